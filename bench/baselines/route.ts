/*
 * A bare Fastify server, the comparison for reads: one route that returns a constant or runs one query, behind an
 * authentication hook that caches verified tokens.
 */
import { readFile } from 'node:fs/promises';
import { fastify } from 'fastify';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import pg from 'pg';

interface Setting {
  readonly jwks: JSONWebKeySet;
  readonly issuer: string;
  readonly path: string;
  readonly constant?: string;
  readonly query?: { readonly text: string; readonly connectionString: string; readonly parameter: string };
}

const setting: Setting = JSON.parse(await readFile(process.env.SETTING ?? '', 'utf8'));
const keys = createLocalJWKSet(setting.jwks);
const verified = new Set<string>();

const app = fastify();
app.addHook('onRequest', async (request, reply) => {
  if (request.url === '/ready') return;
  const token = request.headers.authorization?.slice('Bearer '.length) ?? '';
  if (verified.has(token)) return;
  try {
    await jwtVerify(token, keys, { issuer: setting.issuer, audience: setting.issuer });
    verified.add(token);
  } catch {
    await reply.code(401).send();
  }
});
app.get('/ready', async () => 'ready');
const { constant, query } = setting;
if (constant !== undefined) {
  app.get(setting.path, async (_request, reply) => reply.type('application/json').send(constant));
}
if (query !== undefined) {
  const pool = new pg.Pool({ connectionString: query.connectionString, max: 8 });
  app.get<{ Params: Record<string, string> }>(setting.path, async (request, reply) => {
    const { rows } = await pool.query({
      name: 'page',
      text: query.text,
      values: [request.params[query.parameter]],
    });
    return reply.type('application/json').send(JSON.stringify(rows));
  });
}
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
process.on('SIGTERM', () => process.exit(0));

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { Problem } from '../../src/shared/problem.ts';
import { Database, type InstitutionId, sql } from '../../src/storage/index.ts';
import { serverError, serverMessage } from '../support/server-messages.ts';

const letIn = Buffer.concat([serverMessage('R', Buffer.alloc(4)), serverMessage('Z', 'I')]);
const shutDown = serverError('57P01');

test('a server that closes a connection right after admitting it is unavailable', async () => {
  const host = await mkdtemp(path.join(os.tmpdir(), 'ended-'));
  let connections = 0;
  const server = net.createServer((socket) => {
    connections += 1;
    socket.on('error', () => {});
    socket.once('data', () => socket.end(Buffer.concat([letIn, shutDown])));
  });
  await new Promise<void>((resolve) => server.listen(path.join(host, '.s.PGSQL.5432'), resolve));
  const database = new Database({
    connection: { host, port: 5432, user: 'nobody', database: 'nothing' },
    maxConnections: 2,
  });
  const institutionId = 1 as InstitutionId;
  const one = sql('test_one', 'select 1');
  try {
    for (const work of [
      () => database.read(institutionId, (db) => db.query(one)),
      () => database.write(institutionId, (db) => db.query(one)),
      () => database.transaction(institutionId, (tx) => tx.query(one)),
    ]) {
      const before = connections;
      const code = await work().then(
        () => 'answered',
        (error) => (error instanceof Problem ? error.code : String(error)),
      );
      assert.equal(code, 'database_unavailable');
      assert.ok(connections > before);
    }
  } finally {
    await database.close();
    server.close();
    await rm(host, { recursive: true });
  }
});

test('the database is unavailable if a new connection waits too long for a lock before its first use', async () => {
  const host = await mkdtemp(path.join(os.tmpdir(), 'locked-'));
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.write(letIn));
  });
  await new Promise<void>((resolve) => server.listen(path.join(host, '.s.PGSQL.5432'), resolve));
  const lockTimeout = new pg.DatabaseError('canceling statement due to lock timeout', 0, 'error');
  lockTimeout.code = '55P03';
  const database = new Database({
    connection: { host, port: 5432, user: 'nobody', database: 'nothing' },
    maxConnections: 1,
    onConnect: () => Promise.reject(lockTimeout),
  });
  try {
    await assert.rejects(
      database.directory(async () => {}),
      (error) => error instanceof Problem && error.code === 'database_unavailable',
    );
  } finally {
    await database.close();
    server.close();
    await rm(host, { recursive: true });
  }
});

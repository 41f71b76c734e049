// Published OAuth clients of other languages, unchanged, sign a member in: node scripts/sign-in-clients.ts [language …]
//
// Starts a demo on a free port, installs each client into a temporary folder by its package manager, and prints a line for each language and
// flow. The gate leaves it out, since it downloads. A language without its tools is skipped by name. docs/clients.md has the results.
import { generateKeyPairSync } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DemoService, startDemo } from './browser/service.ts';
import { startMember } from './sign-in-clients/member.ts';
import { sh } from './sign-in-clients/sh.ts';

const programs = fileURLToPath(new URL('sign-in-clients', import.meta.url));
const flows = [
  'discovery',
  'code with PKCE',
  'pushed request',
  'ID token',
  'userinfo',
  'refresh',
  'introspection',
  'revocation',
  'client_credentials',
  'private_key_jwt',
  'DPoP',
  'FAPI 2.0',
  'logout',
] as const;
/** RFC 8252. */
const nativeFlows = [
  'loopback redirect',
  'private-use scheme',
  'no secret',
  'state',
  'refused redirects',
] as const;
const appAddress = 'https://app.example/callback';
const loggedOut = 'https://app.example/bye';

type Command = readonly [program: string, parameters: readonly string[]];

interface Language {
  readonly tools: readonly string[];
  readonly flows: readonly string[];
  /** Installs the client in the folder, and returns the command that runs the program. */
  install(at: string): Promise<Command>;
}

const languages: Readonly<Record<string, Language>> = {
  python: {
    tools: ['python3'],
    flows,
    install: async (at) => {
      await sh(at, 'python3', ['-m', 'venv', 'venv']);
      await sh(at, join(at, 'venv/bin/pip'), ['install', '--quiet', '--requirement', 'requirements.txt']);
      return [join(at, 'venv/bin/python'), ['main.py']];
    },
  },
  go: {
    tools: ['go'],
    flows,
    install: async (at) => {
      await sh(at, 'go', ['build', '-o', 'program', '.']);
      return [join(at, 'program'), []];
    },
  },
  java: {
    tools: ['java', 'mvn'],
    flows,
    install: async (at) => {
      const classpath = ['dependency:build-classpath', '-Dmdep.outputFile=classpath.txt'];
      await sh(at, 'mvn', ['--quiet', '--batch-mode', 'compile', ...classpath]);
      const classes = [join(at, 'target/classes'), readFileSync(join(at, 'classpath.txt'), 'utf8')];
      return ['java', ['-cp', classes.join(delimiter), 'Main']];
    },
  },
  native: {
    tools: ['npm', 'curl'],
    flows: [...flows, ...nativeFlows],
    install: async (at) => {
      await sh(at, 'npm', ['install', '--silent', '--no-audit', '--no-fund']);
      return [process.execPath, ['main.mjs']];
    },
  },
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in languages));
if (unknown.length > 0) {
  process.stderr.write(
    `There is no ${unknown.join(', ')}. Languages: ${Object.keys(languages).join(', ')}.\n`,
  );
  process.exit(2);
}
const say = (line: string) => process.stdout.write(`${line}\n`);
const work = mkdtempSync(join(tmpdir(), 'sharedraft-sign-in-'));
let failures = 0;
try {
  await using demo = await startDemo();
  await using member = await startMember(demo.url);
  for (const name of asked.length > 0 ? asked : Object.keys(languages)) {
    const language = languages[name] as Language;
    const missing = language.tools.filter((tool) => !isThere(tool));
    if (missing.length > 0) {
      say(`skipped  ${name}: install ${missing.join(', ')}`);
      continue;
    }
    failures += await run(name, language, demo, member.url).catch((error: Error) => {
      say(`FAIL     ${name}: ${error.message}`);
      return 1;
    });
  }
} finally {
  if (process.env.KEEP === undefined) rmSync(work, { recursive: true, force: true });
  else say(`kept: ${work}`);
}
process.exitCode = failures === 0 ? 0 : 1;

/** The number of failures. A program prints `ok`, `by hand`, `none` or `FAIL`, the flow, and a remark if there is one, separated by tabs. */
async function run(name: string, language: Language, demo: DemoService, member: string): Promise<number> {
  const at = join(work, name);
  cpSync(join(programs, name), at, { recursive: true });
  const command = await language.install(at);
  const variables = await clientsOf(name, demo, at);
  const printed = await sh(at, ...command, {
    ...process.env,
    ...variables,
    ISSUER: demo.url,
    BROWSER_URL: `${member}/${name}`,
  });
  const lines = printed.split('\n').filter(Boolean);
  const seen = new Map(
    lines.map((line) => {
      const [outcome = '', flow = '', remark = ''] = line.split('\t');
      return [flow, { outcome, remark }];
    }),
  );
  let failed = 0;
  for (const flow of language.flows) {
    const { outcome, remark } = seen.get(flow) ?? {
      outcome: 'FAIL',
      remark: 'the program does not report it',
    };
    if (!['ok', 'by hand', 'none'].includes(outcome)) failed += 1;
    say(`${outcome.padEnd(8)} ${name}: ${flow}${remark && ` (${remark})`}`);
  }
  return failed;
}

/** Registers clients for the language, and returns the variables of its program. */
async function clientsOf(name: string, demo: DemoService, at: string): Promise<Record<string, string>> {
  const create = (id: string, ...options: readonly string[]) =>
    demo.run('client', 'create', id, '--institution', 'lakeside', ...options);
  const scopes = 'openid profile email account:read offline_access';
  const codes = 'authorization_code refresh_token';
  if (name === 'native') {
    const redirects = 'http://127.0.0.1/callback com.example.bank:/callback';
    await create(
      'native-app',
      '--secrecy',
      'public',
      ...['--grants', codes, '--scopes', scopes],
      '--redirect-uris',
      redirects,
      '--logout-uris',
      'com.example.bank:/bye',
    );
    return { CLIENT_ID: 'native-app', PATH: `${xdgOpenIn(at)}${delimiter}${process.env.PATH}` };
  }
  const addresses = ['--redirect-uris', appAddress, '--logout-uris', loggedOut];
  const more = ['--grants', `${codes} client_credentials`, '--scopes', scopes, ...addresses];
  const web = await create(`${name}-web`, ...more);
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const file = join(at, 'public.pem');
  writeFileSync(file, publicKey.export({ type: 'spki', format: 'pem' }));
  await create(`${name}-key`, ...more, '--key', file);
  await create(`${name}-fapi`, ...more, '--key', file, '--profile', 'fapi2');
  return {
    CLIENT_ID: `${name}-web`,
    CLIENT_SECRET: /client_secret: +(\S+)/.exec(web)?.[1] ?? '',
    KEY_CLIENT_ID: `${name}-key`,
    FAPI_CLIENT_ID: `${name}-fapi`,
    PRIVATE_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    REDIRECT_URI: appAddress,
    LOGOUT_URI: loggedOut,
  };
}

/** AppAuth opens the browser by `xdg-open`: here the member's. */
function xdgOpenIn(at: string): string {
  const folder = join(at, 'bin');
  mkdirSync(folder);
  const script = '#!/bin/sh\nexec curl --silent --get --data-urlencode "url=$1" "$BROWSER_URL"\n';
  writeFileSync(join(folder, 'xdg-open'), script, { mode: 0o755 });
  return folder;
}

function isThere(tool: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, tool)));
}

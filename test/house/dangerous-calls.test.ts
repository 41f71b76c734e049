import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** Calls that a defect turns into a hole, and the only files that may have them. docs/asvs.md rests on this table. */
const calls: readonly {
  readonly name: string;
  readonly pattern: RegExp;
  /** Each has been read for text of a caller. */
  readonly files: readonly string[];
}[] = [
  {
    name: 'starts a program',
    pattern: /node:child_process/,
    // The embedded PostgreSQL, with values of the settings; the demo's core, for demos.
    files: [
      'src/app/demo/demo-core.ts',
      'src/cli/commands/demo/demo-core.ts',
      'src/embedded-postgres/server-process.ts',
    ],
  },
  {
    name: 'hands a text to a shell',
    pattern: /(?<![.\w])exec(?:Sync)?\(\s*[`'"]|\bshell: |'\/bin\/sh'/,
    // Fixed scripts; all else are their parameters.
    files: ['src/embedded-postgres/server-process.ts', 'src/embedded-postgres/unpack.ts'],
  },
  { name: 'runs a text as code', pattern: /\beval\(|\bnew Function\(|node:vm|\.innerHTML\b/, files: [] },
  {
    name: 'takes a random number that can be guessed',
    pattern: /Math\.random\(/,
    // Pauses before another attempt.
    files: [
      'client/src/transport.ts',
      'src/core-connection/intake/take-delivery.ts',
      'src/webhooks/delivery/schedule.ts',
    ],
  },
  {
    name: 'encrypts or decrypts',
    pattern: /create(?:C|Dec)ipheriv|(?:public|private)(?:En|De)crypt|subtle\.(?:en|de)crypt/,
    files: ['src/auth/keys/vault.ts'],
  },
  {
    name: 'hashes by another algorithm than SHA-256',
    pattern: /create(?:Hash|Hmac)\((?!'sha256')|hkdfSync\((?!'sha256')|pbkdf2|scrypt/,
    // The digests of SAML: SHA-256, SHA-384 and SHA-512. HMAC-SHA-1 of RFC 6238: other authenticator apps know no other.
    files: ['src/auth/providers/saml/saml-signature.ts', 'src/auth/second-factor/totp.ts'],
  },
];

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = globSync(['src/**/*.ts', 'web/**/*.ts', 'client/src/**/*.ts'], { cwd: root })
  .filter((file) => !file.endsWith('.test.ts') && !file.endsWith('.d.ts'))
  .map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }));

for (const { name, pattern, files } of calls) {
  test(`only the files of the table have a line that ${name}`, () => {
    assert.ok(sources.length > 500);
    const found = sources.filter(({ text }) => pattern.test(text)).map(({ file }) => file);
    assert.deepEqual(found.toSorted(), files);
  });
}

test('everything is encrypted by AES-256-GCM', () => {
  const vault = sources.find(({ file }) => file === 'src/auth/keys/vault.ts')?.text ?? '';
  assert.deepEqual(
    [...vault.matchAll(/'(aes-[^']+|des[^']*|rc4|chacha[^']*)'/gi)].map(([, one]) => one),
    ['aes-256-gcm'],
  );
});

// Verifies an export of the audit without Sharedraft: node verify-audit.mjs export.jsonl [anchors.jsonl]
// docs/audit.md describes the hashes. It needs Node only.
import { createHash, createHmac, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** JSON by RFC 8785. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
}
const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();
const linesOf = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
const fail = (text) => {
  console.error(`BROKEN: ${text}`);
  process.exit(3);
};

const [exported, anchors] = process.argv.slice(2);
const last = new Map();
const hashes = new Map();
for (const line of linesOf(exported)) {
  const { previous, hash, salt, personalData, erased: _, ...content } = line;
  const chain = `${content.institution} ${content.chain}`;
  const place = `${chain} ${content.number}`;
  const before = last.get(chain);
  if (before && before.number + 1 !== content.number) fail(`an entry is missing before ${place}`);
  if (before && before.hash !== previous) fail(`${place} does not follow the entry before it`);
  if (
    salt &&
    createHmac('sha256', Buffer.from(salt, 'hex')).update(canonical(personalData)).digest('hex') !==
      content.personal
  )
    fail(`a personal field of ${place} was changed`);
  if (sha256(Buffer.from(previous, 'hex'), sha256(canonical(content))).toString('hex') !== hash)
    fail(`${place} was changed`);
  last.set(chain, { number: content.number, hash });
  hashes.set(place, hash);
}
for (const { anchor, key } of anchors ? linesOf(anchors) : []) {
  const [header, claims, signature] = anchor.split('.');
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key.x }, format: 'jwk' });
  if (!verify(null, Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, 'base64url')))
    fail('the signature of an anchor is not valid');
  const { institution, chain, number, hash } = JSON.parse(Buffer.from(claims, 'base64url'));
  const place = `${institution} ${chain} ${number}`;
  if (hashes.get(place) !== hash)
    fail(`the anchor at ${place} states another hash, or the export lacks that entry`);
}
for (const [chain, { number }] of last) console.log(`${chain}: intact to number ${number}`);

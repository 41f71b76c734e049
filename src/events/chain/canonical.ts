import { createHash, createHmac } from 'node:crypto';

/** JSON as RFC 8785 writes it: members in the order of their UTF-16 code units, no spaces. Undefined members are left out. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

export const chains = ['access', 'changes'] as const;
export type Chain = (typeof chains)[number];

/** The hash before the first entry. */
export const firstHash: Buffer = Buffer.alloc(32);

/** The personal fields of an entry. The chain has only their salted hash. */
export interface PersonalFields {
  readonly address?: string | undefined;
  readonly nameHash?: string | undefined;
  readonly statedReason?: string | undefined;
  readonly values?: object | undefined;
}

/** The content of an entry, as its hash is taken. docs/audit.md describes it for outsiders. */
export interface EntryContent {
  readonly v: 1;
  readonly institution: number;
  readonly chain: Chain;
  readonly number: number;
  /** Hex, of the personal fields. */
  readonly personal: string;
  readonly [member: string]: unknown;
}

export function personalHashOf(salt: Uint8Array, fields: PersonalFields): Buffer {
  return createHmac('sha256', salt).update(canonicalJson(fields)).digest();
}

export function contentHashOf(content: EntryContent): Buffer {
  return createHash('sha256').update(canonicalJson(content)).digest();
}

export function chainHashOf(previous: Uint8Array, content: Uint8Array): Buffer {
  return createHash('sha256').update(previous).update(content).digest();
}

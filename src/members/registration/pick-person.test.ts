import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClaimedIdentity, pickPerson } from './pick-person.ts';

type Person = Parameters<typeof pickPerson>[0][number];

function person(personKey: bigint, role: Person['role'], email: string | null, name = 'Ada Example'): Person {
  const [firstName = '', lastName = ''] = name.split(' ');
  return {
    personKey,
    role,
    firstName,
    lastName,
    email,
    phoneNumber: null,
    phoneType: null,
    birthDate: null,
  };
}

const ada = person(1n, 'PRIMARY', 'ada@example.test', 'Ada Example');
const bob = person(2n, 'JOINT', 'bob@example.test', 'Bob Sample');
const silent = person(3n, 'PRIMARY', null, 'Cleo Example');

const cases: { that: string; persons: Person[]; claimed: ClaimedIdentity; picked: bigint | undefined }[] = [
  {
    that: 'picks the person with the e-mail, PRIMARY or not',
    persons: [ada, bob],
    claimed: { email: 'bob@example.test' },
    picked: 2n,
  },
  {
    that: 'compares e-mails without case and surrounding space',
    persons: [ada, bob],
    claimed: { email: ' ADA@Example.TEST ' },
    picked: 1n,
  },
  {
    that: 'accepts names that differ only in case, space and composition',
    persons: [person(1n, 'PRIMARY', 'ada@example.test', 'Ad\u00e9le Example')],
    claimed: { email: 'ada@example.test', firstName: ' ADE\u0301LE ', lastName: 'example' },
    picked: 1n,
  },
  {
    that: 'refuses a person with a contradicting first name',
    persons: [ada],
    claimed: { email: 'ada@example.test', firstName: 'Eve' },
    picked: undefined,
  },
  {
    that: 'refuses a person with a contradicting last name',
    persons: [ada],
    claimed: { email: 'ada@example.test', lastName: 'Sample' },
    picked: undefined,
  },
  {
    that: 'picks by name among several persons with the e-mail',
    persons: [ada, person(2n, 'JOINT', 'ada@example.test', 'Bob Sample')],
    claimed: { email: 'ada@example.test', firstName: 'Bob' },
    picked: 2n,
  },
  {
    that: 'picks the PRIMARY among several with the e-mail and a matching name',
    persons: [person(2n, 'JOINT', 'ada@example.test', 'Bob Example'), ada],
    claimed: { email: 'ada@example.test', lastName: 'Example' },
    picked: 1n,
  },
  {
    that: 'picks no one among several with the e-mail, without a PRIMARY and a distinguishing name',
    persons: [silent, bob, person(4n, 'JOINT', 'bob@example.test', 'Dan Sample')],
    claimed: { email: 'bob@example.test' },
    picked: undefined,
  },
  {
    that: 'picks a PRIMARY without an e-mail in the core if no one has the e-mail',
    persons: [bob, silent],
    claimed: { email: 'new@example.test', firstName: 'Cleo' },
    picked: 3n,
  },
  {
    that: 'refuses a PRIMARY without an e-mail in the core by name',
    persons: [silent],
    claimed: { email: 'new@example.test', lastName: 'Sample' },
    picked: undefined,
  },
  {
    that: 'does not pick another person without an e-mail instead of the PRIMARY',
    persons: [ada, person(4n, 'JOINT', null, 'Dan Sample')],
    claimed: { email: 'new@example.test', firstName: 'Dan' },
    picked: undefined,
  },
  {
    that: 'does not replace a person with the e-mail and a contradicting name by a PRIMARY without one',
    persons: [silent, bob],
    claimed: { email: 'bob@example.test', firstName: 'Cleo' },
    picked: undefined,
  },
  {
    that: 'refuses a person with a contradicting birth date, even by e-mail',
    persons: [{ ...ada, birthDate: '1980-12-31' }],
    claimed: { email: 'ada@example.test', birthDate: '1981-12-31' },
    picked: undefined,
  },
  {
    that: 'accepts a birth date that the core does not have',
    persons: [ada],
    claimed: { email: 'ada@example.test', birthDate: '1981-12-31' },
    picked: 1n,
  },
  {
    that: 'picks no one in a membership without persons',
    persons: [],
    claimed: { email: 'ada@example.test' },
    picked: undefined,
  },
];

for (const { that, persons, claimed, picked } of cases) {
  test(that, () => {
    assert.equal(pickPerson(persons, claimed)?.personKey, picked);
    assert.equal(
      pickPerson(persons.toReversed(), claimed)?.personKey,
      picked,
      'in either order of the persons',
    );
  });
}

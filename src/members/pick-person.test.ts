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
    registered: false,
  };
}

const ada = person(1n, 'PRIMARY', 'ada@example.test', 'Ada Example');
const bob = person(2n, 'JOINT', 'bob@example.test', 'Bob Sample');
const silent = person(3n, 'PRIMARY', null, 'Cleo Example');

const cases: { that: string; persons: Person[]; claimed: ClaimedIdentity; picked: bigint | undefined }[] = [
  {
    that: 'the person with the e-mail is picked, PRIMARY or not',
    persons: [ada, bob],
    claimed: { email: 'bob@example.test' },
    picked: 2n,
  },
  {
    that: 'e-mails are compared without case and surrounding space',
    persons: [ada, bob],
    claimed: { email: ' ADA@Example.TEST ' },
    picked: 1n,
  },
  {
    that: 'names that agree but for case, space and composition do not contradict',
    persons: [person(1n, 'PRIMARY', 'ada@example.test', 'Ad\u00e9le Example')],
    claimed: { email: 'ada@example.test', firstName: ' ADE\u0301LE ', lastName: 'example' },
    picked: 1n,
  },
  {
    that: 'a first name that contradicts refuses the person',
    persons: [ada],
    claimed: { email: 'ada@example.test', firstName: 'Eve' },
    picked: undefined,
  },
  {
    that: 'a last name that contradicts refuses the person',
    persons: [ada],
    claimed: { email: 'ada@example.test', lastName: 'Sample' },
    picked: undefined,
  },
  {
    that: 'of several with the e-mail the names decide',
    persons: [ada, person(2n, 'JOINT', 'ada@example.test', 'Bob Sample')],
    claimed: { email: 'ada@example.test', firstName: 'Bob' },
    picked: 2n,
  },
  {
    that: 'of several with the e-mail whom the names do not tell apart it is the PRIMARY',
    persons: [person(2n, 'JOINT', 'ada@example.test', 'Bob Example'), ada],
    claimed: { email: 'ada@example.test', lastName: 'Example' },
    picked: 1n,
  },
  {
    that: 'of several with the e-mail, none of them PRIMARY and not told apart, nobody is picked',
    persons: [silent, bob, person(4n, 'JOINT', 'bob@example.test', 'Dan Sample')],
    claimed: { email: 'bob@example.test' },
    picked: undefined,
  },
  {
    that: 'a PRIMARY whose e-mail the core does not know is picked when nobody has the e-mail',
    persons: [bob, silent],
    claimed: { email: 'new@example.test', firstName: 'Cleo' },
    picked: 3n,
  },
  {
    that: 'a PRIMARY whose e-mail the core does not know is still refused by name',
    persons: [silent],
    claimed: { email: 'new@example.test', lastName: 'Sample' },
    picked: undefined,
  },
  {
    that: 'somebody else without an e-mail is not picked in place of the PRIMARY',
    persons: [ada, person(4n, 'JOINT', null, 'Dan Sample')],
    claimed: { email: 'new@example.test', firstName: 'Dan' },
    picked: undefined,
  },
  {
    that: 'who has the e-mail but contradicts it by name is not replaced by a PRIMARY without one',
    persons: [silent, bob],
    claimed: { email: 'bob@example.test', firstName: 'Cleo' },
    picked: undefined,
  },
  {
    that: 'a birth date that contradicts refuses the person, also by e-mail',
    persons: [{ ...ada, birthDate: '1980-12-31' }],
    claimed: { email: 'ada@example.test', birthDate: '1981-12-31' },
    picked: undefined,
  },
  {
    that: 'a birth date that the core does not have contradicts nothing',
    persons: [ada],
    claimed: { email: 'ada@example.test', birthDate: '1981-12-31' },
    picked: 1n,
  },
  {
    that: 'a membership without persons has nobody to pick',
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

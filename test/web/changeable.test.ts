import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Changeable,
  differencesOf,
  draftOf,
  spanWords,
  wordsOfValue,
} from '../../web/console/form/changeable.ts';
import { screeningFields, settingGroups } from '../../web/console/screens/institution/setting-words.ts';

const settings = {
  ...{ name: 'Lakeside', code: 'lakeside', currency: 'USD', timeZone: 'America/Chicago', host: null },
  ...{ brandColor: null, logoHash: null },
  ...{ record: 'ledger', demo: true, enrollment: 'closed', registrationBirthDate: false },
  ...{ openingDeposit: '0.00', openingsPerDay: 1_000, openingDepositsPerDay: '9007199254740993.07' },
  ...{ passwordMinLength: 15, contactChangeMaxAgeSeconds: 0, transferStepUpMaxAgeSeconds: 300 },
  ...{ transferStepUpAbove: '250.00', transferStepUpNewDestination: true, transferStepUpPasskey: false },
};
const fields = settingGroups.flatMap((group) => group.fields);
const open = fields.filter(({ isFixed }) => !isFixed);
const differ = (change: Readonly<Record<string, string>>) =>
  differencesOf(open, {
    values: settings,
    draft: { ...draftOf(open, settings), ...change },
    currency: 'USD',
  });

describe('the form of settings', () => {
  it('each setting has words, and no amount passes through a double', () => {
    const words = Object.fromEntries(
      fields.map((field) => [field.name, wordsOfValue(field, settings[field.name as never], 'USD')]),
    );
    assert.deepEqual(Object.keys(words).toSorted(), Object.keys(settings).toSorted());
    assert.equal(words.openingDepositsPerDay, '$9,007,199,254,740,993.07');
    assert.equal(words.host, 'none');
    assert.equal(words.transferStepUpMaxAgeSeconds, 'not older than 5 minutes');
    assert.equal(words.contactChangeMaxAgeSeconds, 'in any session');
    assert.equal(words.transferStepUpNewDestination, 'yes');
  });

  it('a form without a change has no difference, and an amount written otherwise is none', () => {
    const small = { ...settings, openingDepositsPerDay: '1000.00' };
    const draft = { ...draftOf(open, small), openingDepositsPerDay: '1,000', openingDeposit: '0' };
    assert.deepEqual(differencesOf(open, { values: small, draft, currency: 'USD' }), {
      differences: [],
      faults: {},
    });
  });

  it('values that differ have the types of the operation', () => {
    const { differences, faults } = differ({
      ...{ openingDepositsPerDay: '1000', host: 'bank.example', passwordMinLength: '20' },
      ...{ transferStepUpPasskey: 'true', enrollment: 'open', name: ' Lakeside ' },
    });
    assert.deepEqual(faults, {});
    assert.deepEqual(Object.fromEntries(differences.map(({ field, after }) => [field.name, after])), {
      ...{ host: 'bank.example', enrollment: 'open', openingDepositsPerDay: '1000.00' },
      ...{ passwordMinLength: 20, transferStepUpPasskey: true },
    });
  });

  it('an emptied host is null, and an emptied name a fault', () => {
    const hosted = { ...settings, openingDepositsPerDay: '1.00', host: 'bank.example' };
    const draft = { ...draftOf(open, hosted), host: ' ', name: '' };
    const { differences, faults } = differencesOf(open, { values: hosted, draft, currency: 'USD' });
    assert.deepEqual(
      differences.map(({ after }) => after),
      [null],
    );
    assert.deepEqual(faults, { name: 'Write a text.' });
  });

  it('numbers outside their bounds, amounts with too many decimals and other choices are faults', () => {
    const { faults } = differ({
      ...{ passwordMinLength: '7', openingsPerDay: '1e3', transferStepUpAbove: '1.005' },
      ...{ openingDeposit: '', enrollment: 'half', openingDepositsPerDay: '-1' },
    });
    assert.deepEqual(Object.keys(faults).toSorted(), [
      ...['enrollment', 'openingDeposit', 'openingDepositsPerDay', 'openingsPerDay'],
      ...['passwordMinLength', 'transferStepUpAbove'],
    ]);
  });

  it('spans are told in the largest unit that is whole', () => {
    assert.deepEqual([0, 1, 90, 60, 5_400, 3_600, 86_400, 2_592_000].map(spanWords), [
      ...['0 seconds', '1 second', '90 seconds', '1 minute', '90 minutes', '1 hour', '1 day', '30 days'],
    ]);
  });

  it('the rules of screening have words', () => {
    const rules = {
      url: 'https://fraud.example',
      from: '250.00',
      timeoutMillis: 800,
      onSilence: 'HOLD',
      holdSeconds: 86_400,
    };
    assert.deepEqual(
      screeningFields.map((field: Changeable) => wordsOfValue(field, rules[field.name as never], 'USD')),
      ['https://fraud.example', '$250.00', 'at most 800 ms', 'the order waits for a review', 'after 1 day'],
    );
  });
});

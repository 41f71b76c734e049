import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sealAudit } from '../../src/events/index.ts';
import { findInstitutionByCode, type Institution } from '../../src/institutions/index.ts';
import { commandsOn } from '../support/commands.ts';
import { clientOf, memberOf, paths } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';

const extract = fileURLToPath(new URL('../../examples/lakeside', import.meta.url));
const scope = ['--institution', 'lakeside'] as const;

let service: TestService;
let run: ReturnType<typeof commandsOn>;
let lakeside: Institution;
before(async () => {
  service = await startTestService();
  run = commandsOn(service.db);
  const { database } = service.service.context;
  lakeside = (await database.directory((db) => findInstitutionByCode(db, 'lakeside'))) as Institution;
});
after(() => service.close());

const erase = (person: string) =>
  run('member', 'erase', person, '--reason', 'request of the member', '--yes', ...scope);

/** Closes all accounts of p-1001 and of the memberships, which moved last this many days ago; past the guards of the ledger. */
async function leave(days: number): Promise<void> {
  await service.db.superuser(
    `set session_replication_role = replica;
     update accounts a set closed = true where institution_id = ${lakeside.institutionId} and account_key in (
       select h.account_key from holders h join persons p using (institution_id, person_key) where p.person_id = 'p-1001'
       union select o.account_key from accounts o join customer_persons cp using (institution_id, customer_key)
       join persons p using (institution_id, person_key) where p.person_id = 'p-1001' and p.institution_id = ${lakeside.institutionId});
     update balances b set last_at = now() - interval '${days} days' where institution_id = ${lakeside.institutionId};
     update users set created_at = now() - interval '${days} days' where user_id = 'u-demo-member';
     reset session_replication_role`,
  );
}

const personalData = /willow|testerman|demo\.member|moved@example/i;
const stored = async () => {
  const tables = ['persons', 'users', 'user_phones', 'activations', 'email_codes', 'outbox', 'audit_entries'];
  const found: string[] = [];
  for (const table of tables) {
    const rows = await service.db.superuser<{ row: string }>(
      `select t::text as row from ${table} t where institution_id = $1`,
      [lakeside.institutionId],
    );
    if (rows.some(({ row }) => personalData.test(row))) found.push(table);
  }
  return found;
};
const entriesAndTransfers = () =>
  service.db.superuser(
    "select (select md5(string_agg(e::text, '' order by e::text)) from entries e) as entries, (select md5(string_agg(t::text, '' order by t::text)) from transfers t) as transfers",
  );

test('erasing is refused while an account is open, and names it', async () => {
  const refused = await erase('p-1001');
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /Nothing was erased: these accounts are open: .*a-1001-checking.*Close them first/,
  );
  assert.match((await erase('p-0000')).stderr, /No person has the id/);
  const unconfirmed = await run('member', 'erase', 'p-1001', '--reason', 'x', ...scope);
  assert.match(unconfirmed.stderr, /Confirm with --yes/);
});

test('erasing is refused before the records were kept long enough, by the command and by the database: SD121', async () => {
  await leave(1_000);
  assert.match((await erase('p-1001')).stderr, /the records are kept until 20\d\d-\d\d-\d\d/);
  const text = `update persons set first_name = '', last_name = '', email = null, phone_number = null, phone_type = null,
    birth_date = null, erased_at = now() where person_id = 'p-1001' and institution_id = ${lakeside.institutionId}`;
  await assert.rejects(service.db.superuser(text), { code: 'SD121' });
});

test('erases a person everywhere but in the ledger, once, and the audit still verifies', async () => {
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  const contact = '/digitalbanking/ux-users/v1/customers/c-1001/contact-info';
  const changed = await member.patch(contact, { emailAddress: 'moved@example.test' });
  assert.equal(changed.status, 200, changed.text);
  await service.service.context.auth.audit.settle();
  await sealAudit(service.service.context.database, lakeside.institutionId, () => new Date());
  await leave(3_000);
  const books = await entriesAndTransfers();
  const holding = await stored();
  assert.deepEqual(
    ['persons', 'users', 'outbox'].filter((table) => !holding.includes(table)),
    [],
  );
  const erased = await erase('p-1001');
  assert.equal(erased.code, 0, erased.stderr);
  assert.match(erased.stdout, /p-1001 is erased, with \d+ events and [1-9]\d* audit entries/);
  assert.deepEqual(await stored(), []);
  assert.deepEqual(await entriesAndTransfers(), books);
  assert.match((await erase('p-1001')).stdout, /erased already/);
  const verified = await run('audit', 'verify', ...scope);
  assert.equal(verified.code, 0, verified.stdout);
  assert.match(verified.stdout, /[1-9]\d* erased/);
  const [entry, again] = await service.db.superuser<{
    subject: string;
    user_id: string;
    stated_reason: string;
  }>(`select subject, user_id, stated_reason from audit_entries where action = 'person.erased'`);
  assert.deepEqual(
    [entry?.subject, entry?.stated_reason, again],
    ['p-1001', 'request of the member', undefined],
  );
  await assert.rejects(memberOf(service, 'demo.member', 'demo-member-password'));
});

test('the next import leaves an erased person erased, and so does a registration: SD120', async () => {
  const imported = await run('import', extract);
  assert.equal(imported.code, 0, imported.stderr);
  assert.deepEqual(await stored(), []);
  const client = await clientOf(service);
  const body = { memberNumber: '100001', email: 'willow.testerman@example.test' };
  assert.ok((await client.post(paths.register, body)).status >= 400);
  assert.deepEqual(
    (await stored()).filter((table) => table !== 'audit_entries'),
    [],
  );
  await assert.rejects(
    service.db.superuser(`update persons set first_name = 'Willow' where erased_at is not null`),
    {
      code: 'SD120',
    },
  );
});

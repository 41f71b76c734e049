import path from 'node:path';
import pg from 'pg';
import { Books, type Entry, type Outcome, toCents } from '../../dev/demo-core/books.ts';
import { Journal } from '../../dev/demo-core/journal.ts';
import { ownEmbeddedPostgres } from '../../src/embedded-postgres/index.ts';
import { reconcile } from '../../src/reconciliation/index.ts';
import { Database, embeddedLogin, type InstitutionId } from '../../src/storage/index.ts';
import { code } from './month-bank.ts';

/* Both books at the end of a simulated month, compared when no process runs any more. */

export interface MonthResult {
  /** Sentences; empty if both books agree. */
  readonly differences: string[];
  readonly coreTransactions: number;
  readonly authorizations: number;
  /** Of persons and accounts. */
  readonly records: number;
  /** The number of instructions in each state at the service. */
  readonly instructions: Readonly<Record<string, number>>;
  readonly transfers: Readonly<Record<string, number>>;
  /** Postings that the connector has lost. */
  readonly lost: number;
  /** Those of them that a break has named. The others had arrived before a crash. */
  readonly named: number;
  /** The number of breaks by class and end. */
  readonly breaks: Readonly<Record<string, number>>;
}

interface BreakRow {
  readonly break_key: string;
  readonly class: string;
  readonly account_id: string;
  readonly core_id: string | null;
  readonly closed_by: string | null;
  readonly is_below: boolean | null;
}

interface InstructionRow {
  readonly transfer_id: string;
  readonly state: string;
  readonly mode: string;
  readonly core_reference: string | null;
  readonly status: string;
  readonly reversed: boolean;
}

/** `ordered` are the ids of the orders that the service has taken. */
export async function compareBooks(
  dataDir: string,
  coreFolder: string,
  ordered: ReadonlySet<string>,
): Promise<MonthResult> {
  const books = new Books();
  const { journal, entries } = await Journal.open<Entry>(path.join(coreFolder, 'journal'));
  await journal.close();
  for (const entry of entries) books.apply(entry);

  const postgres = await ownEmbeddedPostgres({ dataDir, log: () => {} });
  const client = new pg.Client({ ...postgres.connection });
  await client.connect();
  const database = new Database({
    connection: { ...postgres.connection, user: embeddedLogin },
    maxConnections: 2,
  });
  try {
    const rows = async <Row extends pg.QueryResultRow>(text: string) =>
      (
        await client.query<Row>(
          text.replaceAll('$bank', `(select institution_id from institutions where code = '${code}')`),
        )
      ).rows;
    const differences = [
      ...compareBalances(
        books,
        await rows(
          `select account_id, posted::text, debits_pending::text as pending from balances
           where institution_id = $bank and account_id not like 'internal:%'`,
        ),
      ),
      ...compareLines(
        books,
        await rows(`select core_id, amount::text from core_transactions where institution_id = $bank`),
      ),
    ];
    differences.push(
      ...compareRecords(
        books,
        await rows(
          `select p.person_id, p.phone_number,
                  (select coalesce(string_agg(a.account_id, ',' order by a.account_id), '') from holders h
                   join accounts a on a.institution_id = h.institution_id and a.account_key = h.account_key
                   where h.institution_id = p.institution_id and h.person_key = p.person_key) as accounts
           from persons p where p.institution_id = $bank`,
        ),
      ),
    );
    const instructions = await rows<InstructionRow>(
      `select t.transfer_id, i.state, i.mode, i.core_reference, t.status,
              exists (select from transfers r where r.institution_id = t.institution_id
                        and r.reverses_key = t.transfer_key and r.status = 'COMPLETED') as reversed
       from core_instructions i join transfers t
         on t.institution_id = i.institution_id and t.transfer_key = i.instruction_key
       where i.institution_id = $bank`,
    );
    differences.push(...compareInstructions(books, instructions));
    const taken = await rows<{ transfer_id: string; status: string }>(
      `select transfer_id, status from transfers where institution_id = $bank`,
    );
    const known = new Set(taken.map((row) => row.transfer_id));
    for (const id of ordered) if (!known.has(id)) differences.push(`the taken order ${id} is no transfer`);
    const breaks = await rows<BreakRow>(
      `select b.break_key, b.class, b.account_id, b.core_id, b.closed_by,
              n.posted - n.debits_pending < -a.overdraft_limit as is_below
       from core_breaks b
       left join balances n on n.institution_id = b.institution_id and n.account_key = b.account_key
       left join accounts a on a.institution_id = b.institution_id and a.account_key = b.account_key
       where b.institution_id = $bank order by b.break_key`,
    );
    differences.push(...checkBreaks(breaks));
    const named = new Set(breaks.map(({ core_id: id }) => id));
    const [bank] = await rows<{ id: InstitutionId }>('select $bank as id');
    await reconcile(database, bank?.id as InstitutionId, {
      at: new Date(),
      onFinding: ({ check, row, detail }) => differences.push(`reconcile: ${check} ${row} ${detail}`),
    });
    return {
      differences,
      coreTransactions: books.lines.filter(({ status }) => status === undefined).length,
      authorizations: new Set(books.lines.filter(({ status }) => status !== undefined).map(({ id }) => id))
        .size,
      records: books.records.length,
      instructions: countBy(instructions, ({ mode, state }) => `${mode} ${state}`),
      transfers: countBy(taken, ({ status }) => status),
      lost: books.lost.size,
      named: [...books.lost].filter((number) => named.has(books.lines[number - 1]?.id ?? '')).length,
      breaks: countBy(breaks, ({ class: name, closed_by: end }) => `${name} ${end ?? 'open'}`),
    };
  } finally {
    await client.end();
    await database.close();
    await postgres.stop();
  }
}

function* compareBalances(
  books: Books,
  rows: readonly { account_id: string; posted: string; pending: string }[],
): Generator<string> {
  if (rows.length !== books.accounts.size) yield `${rows.length} accounts here, ${books.accounts.size} there`;
  for (const { account_id: id, posted, pending } of rows) {
    const account = books.accounts.get(id);
    if (account === undefined) yield `${id} is missing at the core`;
    else if (Number(posted) !== account.balance)
      yield `${id}: ${posted} here, ${account.balance} at the core`;
    else if (Number(pending) !== account.held)
      yield `${id}: ${pending} held here, ${account.held} at the core`;
  }
}

/** The phone number and the accounts of each person. */
function* compareRecords(
  books: Books,
  rows: readonly { person_id: string; phone_number: string | null; accounts: string }[],
): Generator<string> {
  const held = Map.groupBy(books.accounts.values(), ({ personId }) => personId);
  for (const { person_id: id, phone_number: phone, accounts } of rows) {
    const there = books.phones.get(id) ?? null;
    if (phone !== there) yield `${id} has the phone ${phone} here, ${there} at the core`;
    const own = (held.get(id) ?? []).map(({ accountId }) => accountId).toSorted();
    if (accounts !== own.join()) yield `${id} holds ${accounts} here, ${own.join()} at the core`;
  }
  if (books.announcedUpTo !== books.records.length) yield 'the core has records that it has not delivered';
  for (const [number, refusal] of books.refusedRecords) yield `record ${number} was refused here: ${refusal}`;
}

function* compareLines(
  books: Books,
  rows: readonly { core_id: string; amount: string }[],
): Generator<string> {
  const there = new Map(
    books.lines.flatMap(({ status, id, amount }) => (status === undefined ? [[id, toCents(amount)]] : [])),
  );
  const postings = books.lines.filter(({ status }) => status === undefined);
  if (there.size !== postings.length) yield 'the core used an id twice';
  for (const { core_id: id, amount } of rows) {
    if (there.get(id) !== Number(amount)) yield `${id}: ${amount} here, ${there.get(id)} at the core`;
    there.delete(id);
  }
  for (const id of there.keys()) yield `${id} of the core is missing here`;
  for (const [number, refusal] of books.refused) {
    yield `${books.lines[number - 1]?.id} was refused here: ${refusal}`;
  }
}

function* compareInstructions(books: Books, rows: readonly InstructionRow[]): Generator<string> {
  const postings = new Map<string, number>();
  for (const { transferId, amount } of books.lines) {
    if (transferId !== undefined)
      postings.set(
        `${transferId} ${Math.sign(amount)}`,
        (postings.get(`${transferId} ${Math.sign(amount)}`) ?? 0) + 1,
      );
  }
  const decided = new Map<string, Outcome>(books.decided);
  for (const { transfer_id: id, state, mode, core_reference, status, reversed } of rows) {
    const there = decided.get(id);
    decided.delete(id);
    const sides = [postings.get(`${id} -1`) ?? 0, postings.get(`${id} 1`) ?? 0].join();
    if (state === 'ACCEPTED') {
      if (there?.outcome !== 'ACCEPTED') yield `${id} is accepted here and ${there?.outcome} at the core`;
      // An echo before its outcome is an acceptance: the reference is the id of the core's debit then.
      else if (![there.coreReference, `${there.coreReference}-d`].includes(core_reference ?? ''))
        yield `${id} has the reference ${core_reference} here and ${there.coreReference} at the core`;
      if (sides !== '1,1') yield `${id} was posted ${sides} times at the core`;
      if (status !== 'COMPLETED') yield `${id} is accepted and ${status}`;
    } else {
      if (sides !== '0,0') yield `${id} is ${state} and was posted ${sides} times at the core`;
      const expected = state === 'REJECTED' ? 'REJECTED' : undefined;
      if (state === 'OPEN' || there?.outcome !== expected)
        yield `${id} is ${state} here and ${there?.outcome} at the core`;
      if (mode === 'WAIT' ? status === 'COMPLETED' : state === 'REJECTED' && !reversed) {
        yield `${id} is ${state}, its transfer ${status}, and it was not reversed`;
      }
    }
  }
  for (const id of decided.keys()) yield `the core decided ${id}, which is no instruction here`;
}

/**
 * None is open but that of a debt that still exists. A posting that the connector has lost is sent again only if a break has named it,
 * so each lost one that is here was named, or had arrived before a crash.
 */
function* checkBreaks(breaks: readonly BreakRow[]): Generator<string> {
  for (const {
    break_key: key,
    class: name,
    account_id: account,
    closed_by: end,
    is_below: isBelow,
  } of breaks) {
    if (end === null && !(name === 'BELOW_FLOOR' && isBelow))
      yield `break ${key} (${name}, ${account}) is open`;
  }
}

function countBy<T>(items: readonly T[], nameOf: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[nameOf(item)] = (counts[nameOf(item)] ?? 0) + 1;
  return counts;
}

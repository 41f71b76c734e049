import { access, mkdir, open, readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { toDecimal } from './books.ts';
import type { Core } from './core.ts';
import { dieNow, type Switches } from './faults.ts';
import { addDays, type Day } from './local-time.ts';

/*
 * The file of each day, when the day is over: FOLDER/nightly/2026-03-02/ with transactions.csv and balances.csv. A reader never sees half
 * a file: it is written under another name, synced and renamed.
 */

export async function writeNightlyFiles(core: Core, folder: string, switches: Switches): Promise<Day[]> {
  const nightly = path.join(folder, 'nightly');
  await mkdir(nightly, { recursive: true });
  const today = core.today();
  if (today === undefined) return [];
  const [newest] = (await readdir(nightly)).sort().reverse();
  const written: Day[] = [];
  // The files of the newest day may be incomplete.
  for (let day = newest ?? addDays(today, -1); day < today; day = addDays(day, 1)) {
    if (await writeDay(core, path.join(nightly, day), { day, switches })) written.push(day);
  }
  return written;
}

async function writeDay(
  core: Core,
  folder: string,
  { day, switches }: { readonly day: Day; readonly switches: Switches },
): Promise<boolean> {
  const last = path.join(folder, 'balances.csv');
  if (await exists(last)) return false;
  await mkdir(folder, { recursive: true });
  await writeWhole(path.join(folder, 'transactions.csv'), transactionsOf(core, day), switches);
  await writeWhole(last, balancesOf(core, day), switches);
  return true;
}

function transactionsOf(core: Core, day: Day): string {
  const header =
    'id,accountId,amount,currencyCode,kind,postedAt,effectiveDate,description,checkNumber,merchant,category';
  const rows = core
    .postingsOf(day)
    .map((line) =>
      [
        line.id,
        line.accountId,
        line.amount.toFixed(2),
        line.currencyCode,
        line.kind,
        line.postedAt,
        line.effectiveDate,
        line.description,
        line.checkNumber,
        line.merchant,
        line.category,
      ].map(quoted),
    );
  return [header, ...rows.map((row) => row.join(','))].join('\n').concat('\n');
}

/** The balances at the end of the day. */
function balancesOf(core: Core, day: Day): string {
  const { accounts } = core.books;
  const balances = core.books.balancesAt(core.endOf(day));
  const rows = [...balances].map(([accountId, cents]) => {
    const currency = accounts.get(accountId)?.currencyCode;
    return [accountId, toDecimal(cents).toFixed(2), currency].join(',');
  });
  return ['accountId,balance,currencyCode', ...rows].join('\n').concat('\n');
}

function quoted(value = ''): string {
  return /[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

async function writeWhole(name: string, text: string, switches: Switches): Promise<void> {
  const file = await open(`${name}.part`, 'w', 0o600);
  try {
    if (switches.isOn('dies')) {
      await file.write(text.slice(0, text.length / 2));
      dieNow();
    }
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${name}.part`, name);
}

async function exists(name: string): Promise<boolean> {
  return access(name).then(
    () => true,
    () => false,
  );
}

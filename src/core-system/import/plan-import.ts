import { type AccountChanges, countAccountChanges, type Figures } from '../../accounts/index.ts';
import {
  type Institution,
  type InstitutionSettings,
  type Settings,
  settingsOf,
} from '../../institutions/index.ts';
import {
  type Change,
  countMembershipChanges,
  countPersonChanges,
  type KeyRange,
  noChange,
} from '../../memberships/index.ts';
import type { ImportPlan } from './import-plan.ts';
import { forEachRange, type OnRows, type RangeSizes, type Staging } from './ranges.ts';
import type { StageContents } from './stage-extract.ts';

/** The settings of the core, which each import changes. */
const coreSettings: ReadonlySet<string> = new Set(['name', 'timeZone'] satisfies (keyof Settings)[]);

/**
 * A new institution gets all settings of the extract, a known one only those of the core. Its other settings are changed by
 * operators; `kept` has those that differ from the extract.
 */
export function settingsThatDiffer(
  known: Institution | undefined,
  settings: InstitutionSettings,
  named: ReadonlySet<string>,
): ImportPlan['settings'] {
  const { policies, ...identity } = settings;
  if (known === undefined) return { after: { ...identity, ...policies }, kept: {} };
  const before: Readonly<Record<string, unknown>> = { ...settingsOf(known) };
  const differing = Object.entries(settingsOf(settings)).filter(([name, value]) => before[name] !== value);
  const changed = differing.filter(([name]) => coreSettings.has(name));
  return {
    before: Object.fromEntries(changed.map(([name]) => [name, before[name]])),
    after: Object.fromEntries(changed),
    kept: Object.fromEntries(
      differing
        .filter(([name]) => named.has(name))
        .map(([name, extract]) => [name, { extract, stored: before[name] }]),
    ),
  };
}

type Rows = Omit<ImportPlan, 'commit' | 'settings' | 'unheld' | 'rejected'>;

/** Every row of a new institution is added. */
export function addAll(contents: StageContents): Rows {
  const added = (rows: number): Change => ({ ...noChange, added: rows });
  return {
    persons: added(contents.persons),
    members: added(contents.members),
    memberPersons: added(contents.memberPersons),
    accounts: added(contents.accounts),
    holders: added(contents.holders),
    loans: noChange,
    opened: contents.figures,
    adjusted: 0,
  };
}

/** Counts the differences between the stage and the tables, and finds the ranges that have some. */
export async function compareStage(
  staging: Staging,
  stage: { readonly contents: StageContents; readonly figures: Figures; readonly sizes: RangeSizes },
  onRows: OnRows,
): Promise<Rows> {
  const { contents, figures, sizes } = stage;
  const ranges = { persons: [] as KeyRange[], members: [] as KeyRange[] };
  const of = contents.persons + contents.members;
  let done = 0;
  let persons = noChange;
  await forEachRange(staging, { key: 'persons', rows: sizes.persons }, async (tx, range) => {
    const change = await countPersonChanges(tx, range);
    persons = sumOf(persons, change);
    if (change.added + change.changed > 0) ranges.persons.push(range);
    done += sizes.persons;
    await onRows(done, of);
  });
  let all: MemberChanges = {
    members: noChange,
    memberPersons: noChange,
    accounts: noChange,
    holders: noChange,
    loans: noChange,
    opened: 0,
    adjusted: 0,
  };
  await forEachRange(staging, { key: 'members', rows: sizes.members }, async (tx, range) => {
    const memberships = await countMembershipChanges(tx, range);
    const change = { ...memberships, ...(await countAccountChanges(tx, range, figures)) };
    all = {
      members: sumOf(all.members, change.members),
      memberPersons: sumOf(all.memberPersons, change.memberPersons),
      accounts: sumOf(all.accounts, change.accounts),
      holders: sumOf(all.holders, change.holders),
      loans: sumOf(all.loans, change.loans),
      opened: all.opened + change.opened,
      adjusted: all.adjusted + change.adjusted,
    };
    const { opened, adjusted, ...tables } = change;
    const rows = Object.values(tables).reduce(
      (sum, table) => sum + table.added + table.changed + table.removed,
      0,
    );
    if (rows + opened + adjusted > 0) ranges.members.push(range);
    done += sizes.members;
    await onRows(done, of);
  });
  return { persons, ...all, ranges };
}

type MemberChanges = AccountChanges & { readonly members: Change; readonly memberPersons: Change };

function sumOf(one: Change, other: Change): Change {
  return {
    added: one.added + other.added,
    changed: one.changed + other.changed,
    removed: one.removed + other.removed,
    standing: one.standing + other.standing,
  };
}

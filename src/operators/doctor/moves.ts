import { type Directory, sql } from '../../storage/index.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** Something in this database, or in its cluster, that a move made and has not removed. */
export interface MoveTrace {
  readonly kind: 'institution' | 'slot' | 'publication' | 'subscription';
  readonly name: string;
  /** Null for a slot of a copy, whose name has no institution. */
  readonly code: string | null;
  readonly served: string | null;
  readonly otherCell: string | null;
  /** A command works on the institution's move. */
  readonly isUnderWay: boolean;
  /** The log that a slot keeps from being removed. */
  readonly keptBytes: bigint | null;
}

/* 7305106 is the lock of the commands of a move (src/cells/move.ts), and the names are those of src/cells/replication.ts. */
const traces = sql(
  'operators_move_traces',
  `select t.kind, t.name, i.code, i.served, i.other_cell, t.kept_bytes,
          exists (select from pg_locks l where l.locktype = 'advisory' and l.classid::bigint = 7305106
                    and l.objid::bigint = t.institution_id and l.granted
                    and l.database = (select d.oid from pg_database d where d.datname = current_database())) as is_under_way
   from (
     select 'institution' as kind, code as name, institution_id, null::bigint as kept_bytes
     from institutions where served in ('arriving', 'leaving', 'left')
     union all
     select 'slot', slot_name::text, substring(slot_name from '^sharedraft_move_[0-9]+_([0-9]+)$')::integer,
            pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::bigint
     from pg_replication_slots
     where database = current_database()
       and (slot_name ~ '^sharedraft_move_[0-9]+_[0-9]+$' or slot_name ~ '^pg_[0-9]+_sync_' and not active)
     union all
     select 'publication', pubname::text, substring(pubname from '[0-9]+$')::integer, null
     from pg_publication where pubname ~ '^sharedraft_move_[0-9]+$'
     union all
     select 'subscription', subname::text, substring(subname from '[0-9]+$')::integer, null
     from pg_subscription
     where subname ~ '^sharedraft_move_[0-9]+_[0-9]+$'
       and subdbid = (select d.oid from pg_database d where d.datname = current_database())
   ) t left join institutions i on i.institution_id = t.institution_id
   order by i.code, t.kind, t.name`,
);

/** Empty for a database from which, and to which, no move is unfinished. */
export async function selectMoveTraces(db: Directory): Promise<MoveTrace[]> {
  return (await db.query<MoveTrace>(traces)).rows;
}

/** A finding for each institution whose move is unfinished, and one for each object that belongs to none. */
export function judgeMoves(found: readonly MoveTrace[]): Finding[] {
  if (found.length === 0) return [ok('moves of institutions', 'None is unfinished, and none left anything.')];
  return [...Map.groupBy(found, ({ code }) => code)].flatMap(([code, ofOne]) =>
    code === null ? ofOne.map(judgeForgotten) : judgeMove(code, ofOne),
  );
}

function judgeMove(code: string, ofOne: readonly MoveTrace[]): Finding[] {
  const [{ served, otherCell } = { served: null, otherCell: null }] = ofOne;
  const check = `move of ${code}`;
  if (ofOne.some(({ isUnderWay }) => isUnderWay)) return [ok(check, 'A command is at work on it.')];
  const objects = ofOne.filter(({ kind }) => kind !== 'institution');
  const left = objects.length === 0 ? '' : ` Left: ${listed(objects)}.`;
  const command = `sharedraft institution move ${code} --to ${otherCell ?? 'CELL'}`;
  switch (served) {
    case 'leaving':
      return [
        problem(
          check,
          `It is closed in the middle of its move to "${otherCell}".${left}`,
          `Repeat "${command}", or run it with --undo.`,
        ),
      ];
    case 'arriving':
      return [
        warning(
          check,
          `It comes from the cell "${otherCell}": the move is under way, or was interrupted.${left}`,
          'Unless a command is at work there, repeat it there, or run it with --undo.',
        ),
      ];
    case 'left':
      return objects.length > 0
        ? [problem(check, `It went to the cell "${otherCell}".${left}`, `Repeat "${command}".`)]
        : [
            warning(
              check,
              `It went to the cell "${otherCell}", and its copy is kept here.`,
              `After reconcile and a backup there, run "${command} --confirm".`,
            ),
          ];
    case 'here':
      // One that has arrived has the subscription; one that is about to leave has the others.
      return objects.some(({ kind }) => kind === 'subscription')
        ? [problem(check, `It has arrived.${left}`, 'Repeat the command in the cell that it left.')]
        : [
            problem(
              check,
              `A move from here was interrupted before its pause.${left}`,
              `Repeat "${command}", or run it with --undo.`,
            ),
          ];
    default:
      return objects.map(judgeForgotten);
  }
}

/** Of an institution that is gone, or does not exist here any more: no command on a move would look for it. */
function judgeForgotten(trace: MoveTrace): Finding {
  const { kind, name } = trace;
  const statements = {
    slot: `select pg_drop_replication_slot('${name}')`,
    publication: `drop publication ${name}`,
    subscription: `alter subscription ${name} disable; alter subscription ${name} set (slot_name = none); drop subscription ${name}`,
    institution: '',
  };
  return problem(
    'moves of institutions',
    `A move that ended left the ${listed([trace])}.`,
    `As the owner of the database, run: ${statements[kind]}`,
  );
}

function listed(objects: readonly MoveTrace[]): string {
  return objects
    .map(({ kind, name, keptBytes }) =>
      keptBytes === null
        ? `${kind} ${name}`
        : `${kind} ${name}, which keeps ${Math.ceil(Number(keptBytes) / 1_000_000)} MB of the log`,
    )
    .join(', ');
}

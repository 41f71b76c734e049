import { type BatchRead, byPlace, type Placed, sql } from '../../storage/index.ts';

const standing = sql(
  'auth_standing',
  `select asked.place::integer, c.active as client_active, c.token_epoch as client_epoch, u.user_key, u.person_key,
          coalesce(u.active and not u.locked_by_operator, false) as user_active, u.token_epoch as user_epoch,
          exists (select from revocations r
                  where r.institution_id = $1 and r.revoked_id in (asked.token_id, asked.family_id)) as revoked
   from unnest($2::text[], $3::text[], $4::uuid[], $5::uuid[]) with ordinality
        as asked (client_id, user_id, token_id, family_id, place)
   join clients c on c.institution_id = $1 and c.client_id = asked.client_id and c.client_id = any ($2::text[])
   left join lateral (
     select * from users u where u.institution_id = $1 and u.user_id = asked.user_id
     -- Planned by itself, and so by its key: joined, all users of an institution may look cheaper.
     offset 0) u on true`,
);

export interface Standing {
  readonly clientActive: boolean;
  readonly clientEpoch: number;
  /** The token itself, or the refresh family that it came from. */
  readonly revoked: boolean;
  readonly user:
    | {
        readonly userKey: bigint;
        readonly personKey: bigint;
        readonly active: boolean;
        readonly tokenEpoch: number;
      }
    | undefined;
}

/** Whose token it is, and by which names it may have been revoked. */
export interface AskedToken {
  readonly clientId: string;
  readonly userId: string | null;
  readonly tokenId: string;
  readonly familyId: string | null;
}

interface StandingRow extends Placed {
  readonly client_active: boolean;
  readonly client_epoch: number;
  readonly revoked: boolean;
  readonly user_key: bigint | null;
  readonly person_key: bigint | null;
  readonly user_active: boolean;
  readonly user_epoch: number | null;
}

function toStanding(row: StandingRow): Standing {
  const { user_key: userKey, person_key: personKey, user_epoch: tokenEpoch } = row;
  const user =
    userKey === null || personKey === null || tokenEpoch === null
      ? undefined
      : { userKey, personKey, active: row.user_active, tokenEpoch };
  return { clientActive: row.client_active, clientEpoch: row.client_epoch, revoked: row.revoked, user };
}

/** How the client, the user where there is one, and the token of these ids (`jti`, `sid`) stand right now. */
export const standings: BatchRead<AskedToken, Standing> = {
  // All else that is asked stands in the token, and there is one of this id.
  nameOf: ({ tokenId }) => tokenId,
  run: async (db, asked) => {
    const values = [
      db.institutionId,
      asked.map(({ clientId }) => clientId),
      asked.map(({ userId }) => userId),
      asked.map(({ tokenId }) => tokenId),
      asked.map(({ familyId }) => familyId),
    ];
    return byPlace((await db.query<StandingRow>(standing, values)).rows, toStanding);
  },
};

-- Refresh tokens, and what ends tokens before their time.

-- One login that may be renewed. Each refresh token is good once and is followed by the next; of all that were handed
-- out only the newest leaves a trace, a keyed hash. The others are known for ours by a mark of their own, and for
-- spent by their number.
create table refresh_families (
  institution_id  integer not null,
  family_id       uuid not null,
  client_id       text collate "C" not null,
  user_key        bigint not null,
  scopes          text[] not null check ('offline_access' = any (scopes)),
  -- What client's and user's were when it began.
  client_epoch    integer not null,
  user_epoch      integer not null,
  -- Of the newest token: its number, its hash, and when it took over.
  generation      integer not null check (generation >= 0),
  token_hash      bytea not null check (length(token_hash) = 32),
  rotated_at      timestamptz not null,
  -- When it ends for want of use, and when it ends in any case.
  idle_until      timestamptz not null,
  expires_at      timestamptz not null,
  revoked_at      timestamptz,
  created_at      timestamptz not null,
  primary key (institution_id, family_id),
  foreign key (institution_id, client_id) references clients,
  foreign key (institution_id, user_key) references users,
  constraint refresh_families_lifetime check (idle_until <= expires_at)
) with (fillfactor = 80);
create index refresh_families_by_end on refresh_families (institution_id, idle_until);

create function check_refresh_family() returns trigger language plpgsql as $$
begin
  if old.revoked_at is not null then
    raise exception 'refresh family %: revoked is revoked', old.family_id using errcode = 'SD201';
  end if;
  if new.generation not in (old.generation, old.generation + 1)
     or (new.generation = old.generation) <> (new.token_hash = old.token_hash) then
    raise exception 'refresh family %: its tokens follow one another', old.family_id using errcode = 'SD202';
  end if;
  return new;
end
$$;

create trigger refresh_families_renewed before update on refresh_families
  for each row execute function check_refresh_family();

-- Access tokens that died early, for as long as they would have lived.
create table revocations (
  institution_id  integer not null references institutions,
  -- A token's jti, or its sid: the refresh family that it came from.
  revoked_id      uuid not null,
  expires_at      timestamptz not null,
  primary key (institution_id, revoked_id)
);
create index revocations_by_expiry on revocations (institution_id, expires_at);

do $$
declare
  tenant text;
begin
  foreach tenant in array array['refresh_families', 'revocations'] loop
    execute format('alter table %I enable row level security', tenant);
    execute format('alter table %I force row level security', tenant);
    execute format(
      'create policy institution on %I using (institution_id = '
      '(select current_setting(''sharedraft.institution'')::integer))', tenant);
  end loop;
end
$$;

grant select, insert, delete on refresh_families, revocations to sharedraft_service;
grant update (generation, token_hash, rotated_at, idle_until, revoked_at) on refresh_families to sharedraft_service;

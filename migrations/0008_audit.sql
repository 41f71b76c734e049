-- Who did what, from where, with which outcome. Entries are only ever added: the service may insert and read, and what
-- is old goes through a function that spares what is young.
--
-- An entry never holds a secret, a token, or a name that nobody has (it may be a mistyped password): of such a name
-- there is a keyed hash.

create table audit_entries (
  -- 0, which no institution has, for the service as a whole: what was refused before an institution was known, and
  -- what belongs to none.
  institution_id  integer not null check (institution_id >= 0),
  audit_key       bigint not null generated always as identity,
  recorded_at     timestamptz not null,
  action          text not null check (action ~ '^[a-z_]{1,30}(\.[a-z_]{1,30})?$'),
  outcome         text not null check (outcome in ('succeeded', 'refused')),
  -- Why it was refused, or how it was done: a word of the service's own.
  reason          text check (reason ~ '^[a-z][a-z0-9_:.-]{0,99}$'),
  client_id       text collate "C",
  user_id         text collate "C",
  -- What it was done to, where that is neither a client nor a user: a key's or a token's id.
  subject         text collate "C" check (length(subject) between 1 and 256),
  name_hash       bytea check (length(name_hash) = 32),
  -- The caller's; null for the command line and for what the service does by itself.
  address         inet,
  -- Whose command it was, as the operating system names them.
  operator        text check (length(operator) between 1 and 128),
  transaction_id  text collate "C" not null check (transaction_id ~ '^[!-~]{1,128}$'),
  -- Alike ones of a minute are counted in one entry, so that nobody fills the disk with refusals.
  times           integer not null check (times > 0),
  primary key (institution_id, audit_key),
  check (num_nonnulls(address, operator) <= 1)
);
create index audit_entries_by_time on audit_entries (institution_id, recorded_at, audit_key);

alter table audit_entries enable row level security;
alter table audit_entries force row level security;
create policy institution on audit_entries
  using (institution_id = (select current_setting('sharedraft.institution')::integer));
grant select, insert on audit_entries to sharedraft_service;

-- Retention. Runs as the owner, who alone may delete, on the caller's institution only. The database's own clock guards
-- the last 90 days: whoever has the service's role could say any other time.
create function expire_audit_entries(before timestamptz, most integer) returns bigint
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  with gone as (
    delete from public.audit_entries e
    where e.institution_id = current_setting('sharedraft.institution')::integer
      and e.audit_key = any (array(
        select o.audit_key from public.audit_entries o
        where o.institution_id = current_setting('sharedraft.institution')::integer
          and o.recorded_at < least(before, now() - interval '90 days')
        order by o.recorded_at limit most))
    returning 1)
  select count(*) from gone
$$;
revoke execute on function expire_audit_entries from public;
grant execute on function expire_audit_entries to sharedraft_service;

-- What an import has read of an extract, and not yet brought in. The tables are unlogged: a crash empties them, and the import
-- is run again. An institution that does not exist yet has its number reserved here first, so that its rows stand under it
-- from the start; the number is known by the extract's code alone, like the directory's.
create unlogged table import_runs (
  code text collate "C" primary key,
  institution_id integer not null unique
);
grant select, insert, delete on import_runs to sharedraft_service;
grant usage on sequence institutions_institution_id_seq to sharedraft_service;

create unlogged table staged_persons (
  institution_id integer not null,
  line integer not null,
  person_id text collate "C" not null,
  first_name text not null,
  last_name text not null,
  email text,
  phone_number text,
  phone_type text,
  birth_date text,
  primary key (institution_id, person_id)
);

create unlogged table staged_members (
  institution_id integer not null,
  line integer not null,
  customer_id text collate "C" not null,
  member_number text collate "C" not null,
  member_type text not null,
  primary key (institution_id, member_number),
  unique (institution_id, customer_id)
);

create unlogged table staged_member_persons (
  institution_id integer not null,
  line integer not null,
  member_number text collate "C" not null,
  person_id text collate "C" not null,
  role text not null,
  primary key (institution_id, member_number, person_id)
);

create unlogged table staged_accounts (
  institution_id integer not null,
  line integer not null,
  account_id text collate "C" not null,
  member_number text collate "C" not null,
  account_number text not null,
  di_account_type text not null,
  category text not null,
  description text not null,
  currency text collate "C" not null,
  posted bigint not null,
  closed boolean not null,
  delinquent boolean not null,
  overdraft_limit bigint not null,
  credit_limit bigint not null,
  accrued_interest bigint not null,
  fees_due bigint not null,
  amount_due bigint,
  restriction_said boolean not null,
  transfer_restriction text,
  primary key (institution_id, account_id)
);
create index staged_accounts_by_member on staged_accounts (institution_id, member_number, account_id);

create unlogged table staged_holders (
  institution_id integer not null,
  line integer not null,
  account_id text collate "C" not null,
  person_id text collate "C" not null,
  role text not null,
  may_pay boolean not null,
  primary key (institution_id, account_id, person_id)
);

do $$
declare
  staged text;
begin
  foreach staged in array array['staged_persons', 'staged_members', 'staged_member_persons', 'staged_accounts', 'staged_holders'] loop
    execute format('alter table %I enable row level security', staged);
    execute format('alter table %I force row level security', staged);
    execute format('create policy institution on %I using (institution_id = (select current_setting(''sharedraft.institution'')::integer))', staged);
    execute format('grant select, insert, delete on %I to sharedraft_service', staged);
  end loop;
end
$$;

-- Rows of an import that has ended, all at once: where no other import is under way, the files are emptied rather than each
-- row deleted. False: another one is, and its rows stand beside ours. An import that wants to begin waits meanwhile.
create function empty_import_stage(ended text) returns boolean language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp as $$
begin
  lock table public.import_runs in exclusive mode;
  if exists (select from public.import_runs r where r.code <> ended) then
    return false;
  end if;
  truncate public.staged_persons, public.staged_members, public.staged_member_persons, public.staged_accounts,
    public.staged_holders;
  return true;
end
$$;
revoke execute on function empty_import_stage(text) from public;
grant execute on function empty_import_stage(text) to sharedraft_service;

-- Tables that were just filled have no statistics yet, and a look-up by key would be planned as a walk through an institution. Only
-- an owner may analyze, and autovacuum comes after a minute. A table that someone else analyzes is passed over.
create function analyze_imported() returns void language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp as $$
begin
  analyze (skip_locked) public.staged_persons, public.staged_members, public.staged_member_persons, public.staged_accounts,
    public.staged_holders, public.persons, public.customers, public.customer_persons, public.accounts, public.balances,
    public.loans, public.holders, public.entries;
end
$$;
revoke execute on function analyze_imported() from public;
grant execute on function analyze_imported() to sharedraft_service;

-- Open enrollment creates memberships, and with them money from the institution's funding account. Both have a cap a day,
-- and each membership is given its opening deposit once. Repeated tries to register one member number are paused.

alter table institutions
  -- Memberships that may be opened on the spot in one day of the institution.
  add column openings_per_day integer not null default 1000 check (openings_per_day between 0 and 10000000),
  -- What the funding account pays for opening deposits in one day, in minor units.
  add column opening_deposits_per_day bigint not null default 100000000 check (opening_deposits_per_day >= 0);

-- One row for each membership that was opened on the spot.
create table openings (
  institution_id  integer not null,
  customer_key    bigint not null,
  person_key      bigint not null,
  -- The account that the deposit is for.
  account_id      text collate "C" not null,
  opened_on       date not null,
  deposit         bigint not null check (deposit >= 0),
  -- Null while it is due: it is paid when the member activates their login, in the demo at once.
  deposited_on    date,
  primary key (institution_id, customer_key),
  unique (institution_id, person_key),
  foreign key (institution_id, customer_key) references customers,
  foreign key (institution_id, person_key) references persons,
  foreign key (institution_id, account_id) references accounts (institution_id, account_id)
);

-- Written by the trigger below alone: no opening goes uncounted.
create table opening_counters (
  institution_id  integer not null references institutions,
  day             date not null,
  openings        integer not null check (openings >= 0),
  deposited       bigint not null check (deposited >= 0),
  primary key (institution_id, day)
);

create function count_opening() returns trigger language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
declare
  most institutions;
  counted opening_counters;
begin
  select * into most from institutions where institution_id = new.institution_id;
  if tg_op = 'INSERT' then
    insert into opening_counters as c values (new.institution_id, new.opened_on, 1, 0)
    on conflict (institution_id, day) do update set openings = c.openings + 1
    returning * into counted;
    if counted.openings > most.openings_per_day then
      raise exception 'openings: no more today' using errcode = 'SD042';
    end if;
  elsif old.deposited_on is not null then
    raise exception 'openings: a deposit is paid once' using errcode = 'SD043';
  end if;
  if new.deposited_on is not null and new.deposit > 0 then
    insert into opening_counters as c values (new.institution_id, new.deposited_on, 0, new.deposit)
    on conflict (institution_id, day) do update set deposited = c.deposited + new.deposit
    returning * into counted;
    if counted.deposited > most.opening_deposits_per_day then
      raise exception 'openings: no more deposits today' using errcode = 'SD042';
    end if;
  end if;
  return null;
end
$$;
revoke execute on function count_opening() from public;

create trigger openings_counted after insert or update on openings
  for each row execute function count_opening();

-- Tries to register one member number, known or not. The row goes when one succeeds.
create table registration_tries (
  institution_id  integer not null references institutions,
  member_number   text collate "C" not null check (member_number ~ '^[A-Za-z0-9-]{1,32}$'),
  tries           integer not null check (tries > 0),
  last_at         timestamptz not null,
  paused_until    timestamptz,
  primary key (institution_id, member_number),
  check (tries < 20 or paused_until >= last_at + interval '1 minute')
);
create index registration_tries_by_age on registration_tries (institution_id, last_at);

do $$
declare
  tenant text;
begin
  foreach tenant in array array['openings', 'opening_counters', 'registration_tries'] loop
    execute format('alter table %I enable row level security', tenant);
    execute format('alter table %I force row level security', tenant);
    execute format(
      'create policy institution on %I using (institution_id = '
      '(select current_setting(''sharedraft.institution'')::integer))', tenant);
  end loop;
end
$$;

grant select, insert on openings to sharedraft_service;
grant update (deposited_on) on openings to sharedraft_service;
grant select on opening_counters to sharedraft_service;
grant select, insert, update, delete on registration_tries to sharedraft_service;
grant update (openings_per_day, opening_deposits_per_day) on institutions to sharedraft_service;

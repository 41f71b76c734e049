-- The core system: memberships opened on the spot, and the stage of an import.

create table openings (
  institution_id  integer not null,
  customer_key    bigint not null,
  person_key      bigint not null,
  account_id      text collate "C" not null,
  opened_on       date not null,
  deposit         bigint not null check (deposit >= 0),
  deposited_on    date,
  primary key (institution_id, customer_key),
  unique (institution_id, person_key),
  foreign key (institution_id, customer_key) references customers,
  foreign key (institution_id, person_key) references persons,
  foreign key (institution_id, account_id) references accounts (institution_id, account_id)
);

create trigger openings_counted after insert or update on openings
  for each row execute function count_opening();

comment on table openings is 'Memberships that were opened when their member registered.';
comment on column openings.account_id is 'The account that the deposit goes to.';
comment on column openings.deposited_on is
  'Null while the deposit is due. It is paid when the member activates the login, in a demo at once.';

create table opening_counters (
  institution_id  integer not null references institutions,
  day             date not null,
  openings        integer not null check (openings >= 0),
  deposited       bigint not null check (deposited >= 0),
  primary key (institution_id, day)
);

comment on table opening_counters is 'Openings and their deposits by day. Only a trigger writes it: no opening goes uncounted.';

-- Unlogged: a crash empties the stage, and the import is run again.
create unlogged table import_runs (
  code            text collate "C" primary key,
  institution_id  integer not null unique
);

comment on table import_runs is
  'Running imports. A new institution''s number is reserved here, so that its rows have their number from the start.';
comment on column import_runs.code is 'institutions.code of the extract.';

create unlogged table staged_persons (
  institution_id  integer not null,
  line            integer not null,
  person_id       text collate "C" not null,
  first_name      text not null,
  last_name       text not null,
  email           text,
  phone_number    text,
  phone_type      text,
  birth_date      text,
  primary key (institution_id, person_id)
);

create unlogged table staged_members (
  institution_id  integer not null,
  line            integer not null,
  customer_id     text collate "C" not null,
  member_number   text collate "C" not null,
  member_type     text not null,
  primary key (institution_id, member_number),
  unique (institution_id, customer_id)
);

create unlogged table staged_member_persons (
  institution_id  integer not null,
  line            integer not null,
  member_number   text collate "C" not null,
  person_id       text collate "C" not null,
  role            text not null,
  primary key (institution_id, member_number, person_id)
);

create unlogged table staged_accounts (
  institution_id        integer not null,
  line                  integer not null,
  account_id            text collate "C" not null,
  member_number         text collate "C" not null,
  account_number        text not null,
  di_account_type       text not null,
  category              text not null,
  description           text not null,
  currency              text collate "C" not null,
  posted                bigint not null,
  closed                boolean not null,
  delinquent            boolean not null,
  overdraft_limit       bigint not null,
  credit_limit          bigint not null,
  accrued_interest      bigint not null,
  fees_due              bigint not null,
  amount_due            bigint,
  restriction_given      boolean not null,
  transfer_restriction  text,
  primary key (institution_id, account_id)
);
create index staged_accounts_by_member on staged_accounts (institution_id, member_number, account_id);

create unlogged table staged_holders (
  institution_id  integer not null,
  line            integer not null,
  account_id      text collate "C" not null,
  person_id       text collate "C" not null,
  role            text not null,
  may_pay         boolean not null,
  primary key (institution_id, account_id, person_id)
);

comment on table staged_persons is 'persons.csv of an import, before it is merged.';
comment on table staged_members is 'members.csv of an import, before it is merged.';
comment on table staged_member_persons is 'member-persons.csv of an import, before it is merged.';
comment on table staged_accounts is 'accounts.csv of an import, before it is merged.';
comment on table staged_holders is 'holders.csv of an import, before it is merged.';
comment on column staged_accounts.restriction_given is 'The extract has a column for transfer restrictions.';

select bind_to_institution('openings', 'opening_counters', 'staged_persons', 'staged_members', 'staged_member_persons',
                           'staged_accounts', 'staged_holders');

grant select, insert, update (deposited_on) on openings to sharedraft_service;
grant select on opening_counters to sharedraft_service;
grant select, insert, delete on import_runs, staged_persons, staged_members, staged_member_persons, staged_accounts,
  staged_holders to sharedraft_service;

-- The whole foundation: the global directory, then what belongs to one institution.
--
-- Every tenant table leads each of its keys with institution_id and carries a row-level policy that reads
-- the institution from the setting sharedraft.institution: forgotten in code, it still cannot be crossed
-- here, and a connection that has not said its institution sees an error, not somebody else's rows.
-- Public ids are text collate "C", so that JavaScript and SQL sort alike. Money is bigint minor units.
-- No column default and no trigger reads a clock: time comes from the service, which tests can set.

do $$
begin
  create role sharedraft_service nologin;
exception
  -- Roles belong to the cluster, databases do not: another database may have made it already.
  when duplicate_object or unique_violation then null;
end
$$;

-- ---------------------------------------------------------------------------------------------------------
-- The global directory: what must be known before the institution is.

create table institutions (
  institution_id         integer primary key generated always as identity,
  code                   text collate "C" not null unique check (code ~ '^[a-z][a-z0-9-]{1,30}$'),
  name                   text not null check (name <> ''),
  currency               text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  time_zone              text not null,
  enrollment             text not null check (enrollment in ('closed', 'open')),
  opening_deposit_minor  bigint not null default 0 check (opening_deposit_minor >= 0),
  -- NIST SP 800-63B-4: 15 as a single factor, 8 where the institution declares a second one.
  password_min_length    smallint not null default 15 check (password_min_length between 8 and 128),
  demo                   boolean not null default false,
  created_at             timestamptz not null
);

create table client_directory (
  client_id       text collate "C" primary key check (client_id ~ '^[!-~]{1,128}$'),
  institution_id  integer not null references institutions
);

create table signing_keys (
  kid                 text collate "C" primary key,
  algorithm           text not null check (algorithm = 'ES256'),
  public_jwk          jsonb not null,
  -- AES-256-GCM under the service's key-encryption key; never the key itself.
  sealed_private_key  bytea not null,
  created_at          timestamptz not null
);

-- ---------------------------------------------------------------------------------------------------------
-- Who: OAuth clients, what the core knows of people and memberships, and users with digital access.

create table clients (
  institution_id          integer not null references institutions,
  client_id               text collate "C" not null references client_directory,
  name                    text not null,
  scopes                  text[] not null,
  grants                  text[] not null check (grants <@ array['client_credentials', 'password']),
  token_lifetime_seconds  integer check (token_lifetime_seconds between 60 and 86400),
  active                  boolean not null default true,
  created_at              timestamptz not null,
  primary key (institution_id, client_id)
);

create table client_secrets (
  institution_id  integer not null,
  client_id       text collate "C" not null,
  secret_hash     bytea not null check (length(secret_hash) = 32),
  created_at      timestamptz not null,
  expires_at      timestamptz,
  primary key (institution_id, client_id, secret_hash),
  foreign key (institution_id, client_id) references clients
);

create table persons (
  institution_id  integer not null references institutions,
  person_key      bigint not null generated always as identity,
  person_id       text collate "C" not null check (person_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$'),
  first_name      text not null,
  last_name       text not null,
  email           text check (email <> ''),
  phone_number    text check (phone_number ~ '^\+[1-9][0-9]{1,14}$'),
  phone_type      text check (phone_type in ('MOBILE', 'HOME', 'WORK')),
  birth_date      date,
  primary key (institution_id, person_key),
  unique (institution_id, person_id),
  check ((phone_number is null) = (phone_type is null))
);

create table customers (
  institution_id  integer not null references institutions,
  customer_key    bigint not null generated always as identity,
  customer_id     text collate "C" not null check (customer_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$'),
  member_number   text collate "C" not null check (member_number ~ '^[A-Za-z0-9-]{1,32}$'),
  member_type     text not null check (member_type in ('RETAIL', 'BUSINESS')),
  primary key (institution_id, customer_key),
  unique (institution_id, customer_id),
  unique (institution_id, member_number)
);

create table customer_persons (
  institution_id  integer not null,
  customer_key    bigint not null,
  person_key      bigint not null,
  role            text not null
                  check (role in ('PRIMARY', 'JOINT', 'AUTHORIZED_SIGNER', 'BUSINESS_ADMIN', 'BUSINESS_USER')),
  primary key (institution_id, customer_key, person_key),
  foreign key (institution_id, customer_key) references customers,
  foreign key (institution_id, person_key) references persons
);
create index customer_persons_by_person on customer_persons (institution_id, person_key);
create unique index customer_persons_one_primary on customer_persons (institution_id, customer_key)
  where role = 'PRIMARY';

create table users (
  institution_id      integer not null,
  user_key            bigint not null generated always as identity,
  user_id             text collate "C" not null check (user_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$'),
  person_key          bigint not null,
  email               text not null check (email <> ''),
  -- Compared case-insensitively: stored as typed, unique in lower case.
  username            text check (length(username) between 6 and 64 and username !~ '^[0-9]+$'),
  password_hash       text,
  active              boolean not null default true,
  locked_by_operator  boolean not null default false,
  failed_logins       smallint not null default 0 check (failed_logins between 0 and 5),
  locked_until        timestamptz,
  created_at          timestamptz not null,
  primary key (institution_id, user_key),
  unique (institution_id, user_id),
  unique (institution_id, person_key),
  foreign key (institution_id, person_key) references persons,
  check ((username is null) = (password_hash is null))
);
create unique index users_by_username on users (institution_id, lower(username));
create index users_by_email on users (institution_id, lower(email));

create table user_phones (
  institution_id  integer not null,
  user_key        bigint not null,
  phone_type      text not null check (phone_type in ('MOBILE', 'HOME', 'WORK')),
  phone_number    text not null check (phone_number ~ '^\+[1-9][0-9]{1,14}$'),
  primary key (institution_id, user_key, phone_type),
  foreign key (institution_id, user_key) references users
);

create table activations (
  institution_id  integer not null,
  user_key        bigint not null,
  -- The first part of the code finds the row, only the hash of the second is kept.
  selector        text collate "C" not null,
  secret_hash     bytea not null check (length(secret_hash) = 32),
  failed_tries    smallint not null default 0 check (failed_tries between 0 and 5),
  expires_at      timestamptz not null,
  primary key (institution_id, user_key),
  unique (institution_id, selector),
  foreign key (institution_id, user_key) references users
);

-- ---------------------------------------------------------------------------------------------------------
-- Accounts: descriptions, which change rarely, apart from balances, which change with every posting.

create table accounts (
  institution_id   integer not null references institutions,
  account_key      bigint not null generated always as identity,
  account_id       text collate "C" not null check (account_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$'),
  customer_key     bigint,
  -- An account of the institution itself: where openings come from, what the core settles against.
  purpose          text check (purpose in ('FUNDING', 'CORE_SETTLEMENT', 'SUSPENSE')),
  account_number   text not null,
  di_account_type  text not null,
  category         text not null check (category in ('DEPOSIT', 'LOAN', 'CREDIT', 'INVESTMENT', 'INTERNAL')),
  description      text not null,
  currency         text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  closed           boolean not null default false,
  delinquent       boolean not null default false,
  overdraft_limit  bigint not null default 0 check (overdraft_limit >= 0),
  credit_limit     bigint not null default 0 check (credit_limit >= 0),
  primary key (institution_id, account_key),
  unique (institution_id, account_id),
  foreign key (institution_id, customer_key) references customers,
  check ((customer_key is null) = (purpose is not null)),
  check ((purpose is not null) = (category = 'INTERNAL')),
  check (overdraft_limit = 0 or category = 'DEPOSIT'),
  check (credit_limit = 0 or category = 'CREDIT'),
  -- A card is known by its last four digits, here and everywhere.
  check (di_account_type <> 'CREDIT_CARD_LOAN' or account_number ~ '^[0-9]{4}$')
);
create index accounts_by_customer on accounts (institution_id, customer_key);
create unique index accounts_one_of_a_purpose on accounts (institution_id, purpose, currency)
  where purpose is not null;

create table holders (
  institution_id  integer not null,
  account_key     bigint not null,
  person_key      bigint not null,
  role            text not null check (role in ('PRIMARY', 'JOINT', 'AUTHORIZED_SIGNER')),
  may_pay         boolean not null,
  primary key (institution_id, account_key, person_key),
  foreign key (institution_id, account_key) references accounts,
  foreign key (institution_id, person_key) references persons
);
create index holders_by_person on holders (institution_id, person_key);

-- What part of a loan's debt is not principal. The debt itself is the account's balance, so that
-- principal = debt - interest - fees, and the payoff is the debt.
create table loans (
  institution_id    integer not null,
  account_key       bigint not null,
  accrued_interest  bigint not null check (accrued_interest >= 0),
  fees_due          bigint not null check (fees_due >= 0),
  primary key (institution_id, account_key),
  foreign key (institution_id, account_key) references accounts
);

-- ---------------------------------------------------------------------------------------------------------
-- The ledger. Credit is positive: deposits are normally >= 0, debts <= 0, the institution's own accounts are
-- unbounded, and the entries of an institution sum to zero in each currency.
-- These tables are hot and carry no foreign keys (1,000 entries insert six times slower with them); the
-- triggers below check the same, once a statement instead of once a row.

create sequence posting_keys as bigint increment by 1000;

create table balances (
  institution_id  integer not null,
  account_key     bigint not null,
  account_id      text collate "C" not null,
  currency        text collate "C" not null,
  posted          bigint not null,
  held_out        bigint not null check (held_out >= 0),
  held_in         bigint not null check (held_in >= 0),
  -- The number of the account's newest entry; entries of an account are numbered from 1 without a gap.
  seq             bigint not null check (seq >= 0),
  last_at         timestamptz not null,
  primary key (institution_id, account_key),
  unique (institution_id, account_id)
) with (fillfactor = 80);

create table entries (
  institution_id   integer not null,
  account_key      bigint not null,
  seq              bigint not null check (seq > 0),
  posting_key      bigint not null,
  kind             text not null check (kind in ('OPENING', 'ADJUSTMENT', 'TRANSFER', 'HOLD', 'RELEASE')),
  amount           bigint not null,
  posted_after     bigint not null,
  held_out_after   bigint not null check (held_out_after >= 0),
  held_in_after    bigint not null check (held_in_after >= 0),
  -- The bound this entry was decided by. Bounds bind new orders, not facts: an opening, an adjustment from
  -- the core, the settling of an accepted hold and movement back toward a bound carry none.
  floor            bigint,
  ceiling          bigint,
  recorded_at      timestamptz not null,
  primary key (institution_id, account_key, seq),
  constraint entries_floor check (floor is null or posted_after - held_out_after >= floor),
  constraint entries_ceiling check (ceiling is null or posted_after + held_in_after <= ceiling),
  constraint entries_amount check (case when kind in ('HOLD', 'RELEASE') then amount = 0 else amount <> 0 end)
);

-- How a payment on a loan was split, beside its entry.
create table loan_payments (
  institution_id  integer not null,
  account_key     bigint not null,
  seq             bigint not null,
  to_fees         bigint not null check (to_fees >= 0),
  to_interest     bigint not null check (to_interest >= 0),
  to_principal    bigint not null check (to_principal >= 0),
  primary key (institution_id, account_key, seq)
);

create table transfers (
  institution_id   integer not null,
  transfer_key     bigint not null,
  transfer_id      text collate "C" not null check (transfer_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$'),
  transfer_type    text check (transfer_type in
                     ('STANDARD', 'CROSS_MEMBER', 'IRA_CONTRIBUTION', 'LOAN_PAYMENT', 'INTRA_FI')),
  -- As ordered: a refused transfer may name accounts that do not exist.
  from_account_id  text collate "C" not null,
  to_account_id    text collate "C" not null,
  from_key         bigint,
  to_key           bigint,
  amount           bigint not null check (amount > 0),
  currency         text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  status           text not null check (status in ('PENDING', 'COMPLETED', 'FAILED')),
  failure_code     text,
  -- The sentence the caller was told, so that a repeated id is told the same.
  failure_detail   text,
  -- Who ordered it: the client, and the user when it was a member's token.
  client_id        text collate "C" not null,
  user_key         bigint,
  created_at       timestamptz not null,
  settled_at       timestamptz,
  primary key (institution_id, transfer_key),
  constraint transfers_failure check ((status = 'FAILED') = (failure_code is not null)),
  constraint transfers_failure_detail check ((failure_code is null) = (failure_detail is null)),
  constraint transfers_settled check ((status = 'PENDING') = (settled_at is null)),
  constraint transfers_resolved check
    (status = 'FAILED' or (from_key is not null and to_key is not null and from_key <> to_key
                           and transfer_type is not null))
);

-- Every id ever used, apart from transfers, so that those can be partitioned by time one day.
create table used_ids (
  institution_id  integer not null,
  transfer_id     text collate "C" not null,
  transfer_key    bigint not null,
  primary key (institution_id, transfer_id)
);

create table transfer_limits (
  institution_id      integer not null references institutions,
  limit_key           integer not null,
  subject             text not null check (subject in ('USER', 'CUSTOMER')),
  transfer_type       text check (transfer_type in
                        ('STANDARD', 'CROSS_MEMBER', 'IRA_CONTRIBUTION', 'LOAN_PAYMENT', 'INTRA_FI')),
  currency            text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  max_per_transfer    bigint check (max_per_transfer >= 0),
  max_amount_per_day  bigint check (max_amount_per_day >= 0),
  max_count_per_day   integer check (max_count_per_day >= 0),
  primary key (institution_id, limit_key),
  check (num_nonnulls(max_per_transfer, max_amount_per_day, max_count_per_day) > 0)
);

create table limit_counters (
  institution_id  integer not null,
  limit_key       integer not null,
  subject_key     bigint not null,
  day             date not null,
  amount          bigint not null check (amount >= 0),
  transfers       integer not null check (transfers >= 0),
  -- The ceilings that the last counted order was decided by.
  max_amount      bigint,
  max_transfers   integer,
  primary key (institution_id, limit_key, subject_key, day),
  constraint limit_counters_amount check (max_amount is null or amount <= max_amount),
  constraint limit_counters_transfers check (max_transfers is null or transfers <= max_transfers)
) with (fillfactor = 80);

-- Each change of a transfer or a member, in the same commit as the change. Identity order is not commit
-- order: a feed reads (xid, event_key) only below pg_snapshot_xmin(pg_current_snapshot()).
create table outbox (
  institution_id  integer not null,
  event_key       bigint not null generated always as identity,
  xid             xid8 not null default pg_current_xact_id(),
  kind            text not null,
  subject_key     bigint not null,
  -- The numbers of the entries that this change made on its accounts: gapless per account.
  from_key        bigint,
  from_seq        bigint,
  to_key          bigint,
  to_seq          bigint,
  data            jsonb,
  -- Sealed; wiped on delivery or expiry.
  secret          bytea,
  secret_expires_at timestamptz,
  recorded_at     timestamptz not null,
  primary key (institution_id, event_key)
);
create index outbox_secrets on outbox (institution_id, secret_expires_at) where secret is not null;

-- ---------------------------------------------------------------------------------------------------------
-- What must be true of the ledger, checked once for all rows of a statement.

-- Look-ups stand in "lateral (… offset 0)": one index probe a row, whatever the planner believed of the table when
-- the plan was cached.

create function check_entries() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  -- A posting's amounts sum to zero, and both its sides are in one currency, on accounts that exist and whose
  -- balance has come as far.
  if exists (
    select from written e
    left join lateral (
      select b.currency from balances b
      where b.institution_id = e.institution_id and b.account_key = e.account_key and b.seq >= e.seq
      offset 0
    ) b on true
    group by e.institution_id, e.posting_key
    having sum(e.amount) <> 0 or count(*) % 2 <> 0 or count(b.currency) <> count(*)
        or min(b.currency) <> max(b.currency)
  ) then
    raise exception 'ledger: a posting does not balance' using errcode = 'SD001';
  end if;
  -- Each entry goes on from the one before it.
  if exists (
    select from written e
    left join lateral (
      select p.posted_after from entries p
      where p.institution_id = e.institution_id and p.account_key = e.account_key and p.seq = e.seq - 1
      offset 0
    ) p on true
    where e.posted_after is distinct from e.amount + case when e.seq = 1 then 0 else p.posted_after end
  ) then
    raise exception 'ledger: an entry does not go on from the one before' using errcode = 'SD002';
  end if;
  return null;
end
$$;

create trigger entries_written after insert on entries
  referencing new table as written
  for each statement execute function check_entries();

create function check_balances() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  -- A balance says what its account's newest entry says.
  if exists (
    select from became b
    left join lateral (
      select e.seq, e.posted_after, e.held_out_after, e.held_in_after, e.recorded_at from entries e
      where e.institution_id = b.institution_id and e.account_key = b.account_key and e.seq >= b.seq
      order by e.seq desc limit 1
    ) e on true
    where (b.seq, b.posted, b.held_out, b.held_in, b.last_at)
          is distinct from (e.seq, e.posted_after, e.held_out_after, e.held_in_after, e.recorded_at)
  ) then
    raise exception 'ledger: a balance differs from its newest entry' using errcode = 'SD003';
  end if;
  return null;
end
$$;

create trigger balances_moved after update on balances
  referencing new table as became
  for each statement execute function check_balances();

create function check_new_balances() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  if exists (
    select from written b
    left join lateral (
      select a.account_id, a.currency from accounts a
      where a.institution_id = b.institution_id and a.account_key = b.account_key
      offset 0
    ) a on true
    where b.posted <> 0 or b.held_out <> 0 or b.held_in <> 0 or b.seq <> 0
       or (a.account_id, a.currency) is distinct from (b.account_id, b.currency)
  ) then
    raise exception 'ledger: a new balance starts at zero, for an account that exists' using errcode = 'SD004';
  end if;
  return null;
end
$$;

create trigger balances_opened after insert on balances
  referencing new table as written
  for each statement execute function check_new_balances();

create function check_transfer_transition() returns trigger language plpgsql as $$
begin
  if old.status <> 'PENDING' then
    raise exception 'transfer % is final', old.transfer_id using errcode = 'SD005';
  end if;
  return new;
end
$$;

create trigger transfers_final before update on transfers
  for each row execute function check_transfer_transition();

-- ---------------------------------------------------------------------------------------------------------
-- The second wall. The service's role owns nothing, may not bypass policies, and may change only what the
-- service changes: entries, used ids and finished transfers are for ever.

do $$
declare
  tenant text;
begin
  foreach tenant in array array[
    'clients', 'client_secrets', 'persons', 'customers', 'customer_persons', 'users', 'user_phones',
    'activations', 'accounts', 'holders', 'loans', 'balances', 'entries', 'loan_payments', 'transfers',
    'used_ids', 'transfer_limits', 'limit_counters', 'outbox'
  ] loop
    execute format('alter table %I enable row level security', tenant);
    execute format('alter table %I force row level security', tenant);
    -- The subselect is evaluated once a statement, not once a row.
    execute format(
      'create policy institution on %I using (institution_id = '
      '(select current_setting(''sharedraft.institution'')::integer))', tenant);
  end loop;
end
$$;

grant select on all tables in schema public to sharedraft_service;
grant usage on all sequences in schema public to sharedraft_service;
grant insert on institutions, client_directory, signing_keys, clients, client_secrets, persons, customers,
  customer_persons, users, user_phones, activations, accounts, holders, loans, balances, entries,
  loan_payments, transfers, used_ids, transfer_limits, limit_counters, outbox to sharedraft_service;
grant update (name, time_zone, enrollment, opening_deposit_minor, password_min_length) on institutions
  to sharedraft_service;
grant update (name, scopes, grants, token_lifetime_seconds, active) on clients to sharedraft_service;
grant update (expires_at) on client_secrets to sharedraft_service;
grant update (first_name, last_name, email, phone_number, phone_type, birth_date) on persons
  to sharedraft_service;
grant update (role) on customer_persons to sharedraft_service;
grant update (email, username, password_hash, active, locked_by_operator, failed_logins, locked_until)
  on users to sharedraft_service;
grant update, delete on user_phones, activations, holders, transfer_limits to sharedraft_service;
grant update (description, closed, delinquent, overdraft_limit, credit_limit, account_number) on accounts
  to sharedraft_service;
grant update (accrued_interest, fees_due) on loans to sharedraft_service;
grant update (posted, held_out, held_in, seq, last_at) on balances to sharedraft_service;
grant update (status, failure_code, failure_detail, settled_at) on transfers to sharedraft_service;
grant update (amount, transfers, max_amount, max_transfers) on limit_counters to sharedraft_service;
grant update (secret, secret_expires_at) on outbox to sharedraft_service;
grant delete on client_secrets, customer_persons to sharedraft_service;

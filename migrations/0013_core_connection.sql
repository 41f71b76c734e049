-- The connection to the core: what it posts and what it holds (ADR 34).

-- One account for each kind of the core's postings, so that each can be reconciled by itself.
alter table accounts drop constraint accounts_purpose_check;
alter table accounts add constraint accounts_purpose_check check (purpose in (
  'FUNDING', 'CORE_SETTLEMENT', 'SUSPENSE', 'CORE_CARD', 'CORE_ACH', 'CORE_CHECK', 'CORE_FEE', 'CORE_INTEREST', 'CORE_DIVIDEND',
  'CORE_ATM', 'CORE_TELLER', 'CORE_WIRE', 'CORE_LOAN_PAYMENT', 'CORE_TRANSFER', 'CORE_ADJUSTMENT'));

-- Not validated: the constraints before them were stricter, and a large journal is not read again.
alter table entries drop constraint entries_kind_check;
alter table entries add constraint entries_kind_check check (kind in (
  'OPENING', 'ADJUSTMENT', 'TRANSFER', 'HOLD', 'RELEASE', 'CORE', 'CORE_HOLD', 'CORE_RELEASE')) not valid;
alter table entries drop constraint entries_amount;
alter table entries add constraint entries_amount check (
  case when kind in ('HOLD', 'RELEASE', 'CORE_HOLD', 'CORE_RELEASE') then amount = 0 else amount <> 0 end) not valid;

comment on column entries.kind is
  'OPENING and ADJUSTMENT come from the core''s extract and CORE from its postings; TRANSFER posts an order; HOLD, RELEASE, CORE_HOLD and CORE_RELEASE change only pending amounts.';

create table core_transactions (
  institution_id    integer not null,
  core_id           text collate "C" not null check (length(core_id) <= 64 and core_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]*$'),
  account_key       bigint not null,
  seq               bigint not null check (seq > 0),
  posting_key       bigint not null,
  settlement_key    bigint,
  amount            bigint not null check (amount <> 0),
  kind              text not null check (kind in (
                      'CARD', 'ACH_CREDIT', 'ACH_DEBIT', 'CHECK', 'FEE', 'INTEREST', 'DIVIDEND', 'ATM', 'TELLER', 'WIRE',
                      'LOAN_PAYMENT', 'TRANSFER', 'ADJUSTMENT')),
  posted_at         timestamptz not null,
  effective_date    date not null,
  -- readable-text.ts refuses more; these characters are invisible or change how other text looks.
  description       text not null check (
                      length(description) between 1 and 140
                      and description !~ '[[:cntrl:]\u00AD\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]'),
  check_number      text check (length(check_number) between 1 and 32),
  merchant          text check (length(merchant) between 1 and 140),
  category          text check (length(category) between 1 and 64),
  running_balance   bigint,
  authorization_id  text collate "C",
  is_historic       boolean not null,
  recorded_at       timestamptz not null,
  primary key (institution_id, core_id),
  constraint core_transactions_one_of_an_entry unique (institution_id, account_key, seq)
);
create index core_transactions_effective on core_transactions (institution_id, account_key, effective_date) include (amount);

create trigger core_transactions_written after insert on core_transactions referencing new table as written
  for each statement execute function check_core_transactions();

comment on table core_transactions is
  'What the core posted: the facts beside an entry of kind CORE, or beside the entry of a transfer of which it is the echo. Insert-only; core_id is used up for ever.';
comment on column core_transactions.seq is 'Number of the entry in its account.';
comment on column core_transactions.posting_key is 'Key of the entry: of a transfer, if this is its echo.';
comment on column core_transactions.settlement_key is 'The internal account of its other side. Null for an echo.';
comment on column core_transactions.posted_at is 'Time of the posting at the core. Entries are in the order of their arrival here.';
comment on column core_transactions.running_balance is 'The balance that the core states after it.';
comment on column core_transactions.is_historic is 'Imported as history: it has no event.';

create table core_authorizations (
  institution_id     integer not null,
  authorization_id   text collate "C" not null
                     check (length(authorization_id) <= 64 and authorization_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]*$'),
  account_key        bigint not null,
  settlement_key     bigint not null,
  posting_key        bigint not null,
  held               bigint not null check (held >= 0),
  authorized_amount  bigint check (authorized_amount > 0),
  description        text check (
                       length(description) between 1 and 140
                       and description !~ '[[:cntrl:]\u00AD\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]'),
  merchant           text check (length(merchant) between 1 and 140),
  category           text check (length(category) between 1 and 64),
  changed_at         timestamptz not null,
  expires_at         timestamptz,
  ended              text check (ended in ('SETTLED', 'RELEASED', 'EXPIRED')),
  recorded_at        timestamptz not null,
  primary key (institution_id, authorization_id),
  constraint core_authorizations_hold_while_open check ((ended is null) = (held > 0))
);
create index core_authorizations_open on core_authorizations (institution_id, account_key, recorded_at, posting_key)
  where ended is null;
create index core_authorizations_settling on core_authorizations (institution_id, settlement_key) where ended is null;
create index core_authorizations_expiring on core_authorizations (institution_id, expires_at) where ended is null;

create trigger core_authorizations_begun after insert on core_authorizations referencing new table as written
  for each statement execute function count_core_authorizations();
create trigger core_authorizations_changed after update on core_authorizations
  referencing old table as replaced new table as written
  for each statement execute function count_changed_core_authorizations();

comment on table core_authorizations is
  'Pending card authorizations of the core. An open one holds its amount on the account; an ended one stays, so that news that arrive late hold nothing.';
comment on column core_authorizations.posting_key is 'Key of the entries that changed the hold last.';
comment on column core_authorizations.held is 'The amount held now; 0 after the end.';
comment on column core_authorizations.authorized_amount is 'As first announced. Null if a later news arrived alone.';
comment on column core_authorizations.changed_at is 'Time at the core of the newest news. Older ones change nothing.';
comment on column core_authorizations.recorded_at is 'When the hold began here.';

-- Rows as a batch sends them (ADR 12).
create type new_core_transaction as (
  core_id           text,
  account_key       bigint,
  seq               bigint,
  posting_key       bigint,
  settlement_key    bigint,
  amount            bigint,
  kind              text,
  posted_at         timestamptz,
  effective_date    date,
  description       text,
  check_number      text,
  merchant          text,
  category          text,
  running_balance   bigint,
  authorization_id  text,
  is_historic       boolean
);

create type core_authorization_state as (
  authorization_id   text,
  account_key        bigint,
  settlement_key     bigint,
  posting_key        bigint,
  held               bigint,
  authorized_amount  bigint,
  description        text,
  merchant           text,
  category           text,
  changed_at         timestamptz,
  expires_at         timestamptz,
  ended              text
);

select bind_to_institution('core_transactions', 'core_authorizations');

grant select, insert on core_transactions, core_authorizations to sharedraft_service;
grant update (posting_key, held, authorized_amount, description, merchant, category, changed_at, expires_at, ended)
  on core_authorizations to sharedraft_service;

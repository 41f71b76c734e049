-- The ledger. Credit is positive: deposits are normally >= 0, debts <= 0, internal accounts are unbounded, and the entries of
-- an institution sum to zero in each currency.
--
-- These tables are hot and have no foreign keys: 1,000 entries insert six times slower with them. Triggers check the same,
-- once a statement instead of once a row (ADR 3).

create sequence posting_keys as bigint increment by 1000;

create table balances (
  institution_id   integer not null,
  account_key      bigint not null,
  account_id       text collate "C" not null,
  currency         text collate "C" not null,
  posted           bigint not null,
  debits_pending   bigint not null check (debits_pending >= 0),
  credits_pending  bigint not null check (credits_pending >= 0),
  seq              bigint not null check (seq >= 0),
  last_at          timestamptz not null,
  primary key (institution_id, account_key),
  unique (institution_id, account_id)
) with (fillfactor = 80);

create trigger balances_opened after insert on balances referencing new table as written
  for each statement execute function check_new_balances();
create trigger balances_moved after update on balances referencing new table as became
  for each statement execute function check_balances();

comment on table balances is 'The balance of each account, equal to its newest entry.';
comment on column balances.posted is 'Sum of the amounts of the account''s entries.';
comment on column balances.debits_pending is 'Sum of pending transfers from the account.';
comment on column balances.credits_pending is 'Sum of pending transfers to the account.';
comment on column balances.seq is 'Number of the newest entry; 0 before the first.';
comment on column balances.last_at is 'Time of the newest entry.';

create table entries (
  institution_id         integer not null,
  account_key            bigint not null,
  seq                    bigint not null check (seq > 0),
  posting_key            bigint not null,
  kind                   text not null check (kind in ('OPENING', 'ADJUSTMENT', 'TRANSFER', 'HOLD', 'RELEASE')),
  amount                 bigint not null,
  posted_after           bigint not null,
  debits_pending_after   bigint not null check (debits_pending_after >= 0),
  credits_pending_after  bigint not null check (credits_pending_after >= 0),
  floor                  bigint,
  ceiling                bigint,
  recorded_at            timestamptz not null,
  primary key (institution_id, account_key, seq),
  -- Bounds apply to new orders, not to facts: an opening, an adjustment from the core, the settling of an accepted hold and a
  -- movement back toward a bound carry none.
  constraint entries_floor check (floor is null or posted_after - debits_pending_after >= floor),
  constraint entries_ceiling check (ceiling is null or posted_after + credits_pending_after <= ceiling),
  constraint entries_amount check (case when kind in ('HOLD', 'RELEASE') then amount = 0 else amount <> 0 end)
);

create trigger entries_written after insert on entries referencing new table as written
  for each statement execute function check_entries();
create constraint trigger entries_released after insert on entries deferrable initially deferred
  for each row when (new.kind = 'RELEASE') execute function check_release();

comment on table entries is 'The journal: every change of a balance, never changed or deleted.';
comment on column entries.seq is 'Number of the entry in its account, from 1 without a gap.';
comment on column entries.posting_key is 'Common to the two entries of a posting: the key of the transfer, if one ordered it.';
comment on column entries.kind is
  'OPENING and ADJUSTMENT come from the core, TRANSFER posts, HOLD and RELEASE change only pending amounts.';
comment on column entries.posted_after is 'The balance with this entry.';
comment on column entries.floor is 'Least available balance that the order allowed. Null: no bound.';
comment on column entries.ceiling is 'Greatest balance that the order allowed. Null: no bound.';

create table loan_payments (
  institution_id  integer not null,
  account_key     bigint not null,
  seq             bigint not null,
  to_fees         bigint not null,
  to_interest     bigint not null,
  to_principal    bigint not null,
  to_due          bigint not null,
  primary key (institution_id, account_key, seq),
  constraint loan_payments_one_direction check
    ((to_fees >= 0 and to_interest >= 0 and to_principal >= 0 and to_due >= 0)
     or (to_fees <= 0 and to_interest <= 0 and to_principal <= 0 and to_due <= 0))
);

create trigger loan_payments_written after insert on loan_payments referencing new table as written
  for each statement execute function check_loan_payments();

comment on table loan_payments is 'The split of a loan payment, beside its entry. A reversal has all parts negative.';
comment on column loan_payments.to_due is 'Part of the payment that reduced loans.amount_due.';

create unlogged table control_totals (
  transaction  xid8 primary key,
  total        numeric not null
);

create constraint trigger control_totals_are_zero after insert on control_totals deferrable initially deferred
  for each row execute function check_control_total();

comment on table control_totals is
  'One row a transaction that writes entries or transfers, deleted at commit. Only triggers write it. Unlogged: no row outlives its transaction.';
comment on column control_totals.total is 'Entries add their control number, transfers subtract it; 0 at commit.';

-- ---------------------------------------------------------------------------------------------------------
-- Rows as a batch sends them: one array of a composite type for each table (ADR 12).

create type balance_change as (
  account_key      bigint,
  posted           bigint,
  debits_pending   bigint,
  credits_pending  bigint,
  seq              bigint,
  last_at          timestamptz
);

create type new_entry as (
  account_key            bigint,
  seq                    bigint,
  posting_key            bigint,
  kind                   text,
  amount                 bigint,
  posted_after           bigint,
  debits_pending_after   bigint,
  credits_pending_after  bigint,
  floor                  bigint,
  ceiling                bigint,
  recorded_at            timestamptz
);

select bind_to_institution('balances', 'entries', 'loan_payments');

grant select, insert on balances, entries, loan_payments to sharedraft_service;
grant update (posted, debits_pending, credits_pending, seq, last_at) on balances to sharedraft_service;
grant usage on sequence posting_keys to sharedraft_service;

-- Accounts: descriptions, which change rarely. Balances, which change with every posting, are part of the ledger.

create table accounts (
  institution_id        integer not null references institutions,
  account_key           bigint not null generated always as identity,
  account_id            text collate "C" not null check (account_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$'),
  customer_key          bigint,
  purpose               text check (purpose in ('FUNDING', 'CORE_SETTLEMENT', 'SUSPENSE')),
  account_number        text not null,
  di_account_type       text not null,
  category              text not null check (category in ('DEPOSIT', 'LOAN', 'CREDIT', 'INVESTMENT', 'INTERNAL')),
  description           text not null,
  currency              text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  closed                boolean not null default false,
  delinquent            boolean not null default false,
  transfer_restriction  text check (transfer_restriction in ('EXCLUDE_ALL', 'EXCLUDE_AS_FROM', 'EXCLUDE_AS_TO')),
  overdraft_limit       bigint not null default 0 check (overdraft_limit >= 0),
  credit_limit          bigint not null default 0 check (credit_limit >= 0),
  primary key (institution_id, account_key),
  unique (institution_id, account_id),
  foreign key (institution_id, customer_key) references customers,
  constraint accounts_one_owner check ((customer_key is null) = (purpose is not null)),
  constraint accounts_internal check ((purpose is not null) = (category = 'INTERNAL')),
  constraint accounts_overdraft_of_deposit check (overdraft_limit = 0 or category = 'DEPOSIT'),
  constraint accounts_credit_limit_of_credit check (credit_limit = 0 or category = 'CREDIT'),
  -- PCI DSS: only the last four digits of a card number are stored.
  constraint accounts_card_last_four check (di_account_type <> 'CREDIT_CARD_LOAN' or account_number ~ '^[0-9]{4}$')
);
create index accounts_by_customer on accounts (institution_id, customer_key);
create unique index accounts_one_of_a_purpose on accounts (institution_id, purpose, currency)
  where purpose is not null;

comment on table accounts is 'Accounts of memberships, and internal accounts of the institution.';
comment on column accounts.account_id is 'Id in the core system.';
comment on column accounts.purpose is
  'Of an internal account. FUNDING pays opening deposits, CORE_SETTLEMENT is the other side of changes that the core reports.';
comment on column accounts.di_account_type is 'Account type in the vocabulary of Digital Insight.';
comment on column accounts.delinquent is 'A loan whose payment is overdue.';
comment on column accounts.overdraft_limit is 'How far below zero a deposit may go, in minor units.';
comment on column accounts.credit_limit is 'How far below zero a line of credit may go, in minor units.';

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

comment on table holders is 'The persons who see an account.';
comment on column holders.may_pay is 'May also order transfers from the account.';

create table loans (
  institution_id    integer not null,
  account_key       bigint not null,
  accrued_interest  bigint not null check (accrued_interest >= 0),
  fees_due          bigint not null check (fees_due >= 0),
  amount_due        bigint not null default 0 check (amount_due >= 0),
  primary key (institution_id, account_key),
  foreign key (institution_id, account_key) references accounts
);

comment on table loans is
  'The parts of a loan''s debt. The debt is the account''s balance (ADR 2): principal = debt - interest - fees, payoff = debt.';
comment on column loans.amount_due is 'Payment that brings the loan into good standing; it clears delinquent.';

select bind_to_institution('accounts', 'holders', 'loans');

grant select, insert on accounts, holders, loans to sharedraft_service;
grant update (account_number, description, closed, delinquent, transfer_restriction, overdraft_limit, credit_limit)
  on accounts to sharedraft_service;
grant update, delete on holders to sharedraft_service;
grant update (accrued_interest, fees_due, amount_due) on loans to sharedraft_service;
grant usage on sequence accounts_account_key_seq to sharedraft_service;

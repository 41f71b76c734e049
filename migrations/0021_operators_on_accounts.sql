-- Acts of operators on accounts. They stand beside the core's columns, so that no import undoes them.

alter table accounts
  add column operator_restriction text
    check (operator_restriction in ('EXCLUDE_ALL', 'EXCLUDE_AS_FROM', 'EXCLUDE_AS_TO')),
  add column closed_by_operator boolean not null default false,
  add constraint accounts_closed_by_operator check (closed or not closed_by_operator) not valid;

comment on column accounts.transfer_restriction is 'Transfers that the core excludes.';
comment on column accounts.operator_restriction is 'Transfers that an operator excludes, beside those of the core.';
comment on column accounts.closed_by_operator is 'An operator closed it for good. No import opens it again.';

create index accounts_restricted on accounts (institution_id, account_key) where operator_restriction is not null;

alter table balances
  add column closed boolean not null default false,
  add constraint balances_closed
    check (not closed or (posted = 0 and debits_pending = 0 and credits_pending = 0)) not valid;

comment on column balances.closed is 'An operator closed the account, so nothing moves on it any more.';

grant update (operator_restriction, closed_by_operator) on accounts to sharedraft_service;
grant update (closed) on balances to sharedraft_service;

create trigger accounts_closed_for_good before update of closed_by_operator on accounts
  for each row when (new.closed_by_operator is distinct from old.closed_by_operator)
  execute function check_account_closed();
create trigger balances_closed_for_good before update of closed on balances
  for each row when (old.closed and not new.closed)
  execute function refuse_reopened_balance();
create trigger transfers_unrestricted after insert on transfers
  referencing new table as written for each statement execute function check_transfers_unrestricted();

-- Operators find persons by name and by e-mail address.
create index persons_by_name on persons
  (institution_id, (lower(last_name) collate "C"), (lower(first_name) collate "C"), person_key);
create index persons_by_email on persons (institution_id, (lower(email) collate "C")) where email is not null;
create index users_by_email on users (institution_id, (lower(email) collate "C"));

-- A person's sessions.
create index refresh_families_by_user on refresh_families (institution_id, user_key);

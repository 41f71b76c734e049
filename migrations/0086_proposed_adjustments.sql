-- A proposal of an adjustment names its money, since a later comparison changes the difference of the same break. A proposal of before names
-- none, and counts no more.

alter table proposals
  add column account_id text collate "C",
  add column currency text collate "C",
  add column amount bigint check (amount <> 0),
  add constraint proposals_money
    check (num_nonnulls(account_id, currency, amount) in (0, 3) and (kind = 'ADJUSTMENT' or amount is null)) not valid;
alter table proposals validate constraint proposals_money;

comment on column proposals.account_id is 'The account to adjust. Null for any other act.';
comment on column proposals.currency is 'Of the amount.';
comment on column proposals.amount is 'The amount that the adjustment adds to the account: the difference that the first person saw.';

grant insert (account_id, currency, amount) on proposals to sharedraft_service;

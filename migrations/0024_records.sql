-- Records of the core that arrive one by one pass through the stage of an import. A record may omit the figures of a loan, which
-- stay as they are.

alter table staged_accounts
  alter column accrued_interest drop not null,
  alter column fees_due drop not null;
comment on column staged_accounts.accrued_interest is 'Null: unchanged.';
comment on column staged_accounts.fees_due is 'Null: unchanged.';

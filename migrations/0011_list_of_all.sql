-- The list of the whole institution has an index that only a statement which says `transfer_key > 0` may use (it is true
-- of every transfer). Without statistics, a list of one account could be planned on it as well, at the same estimated
-- cost, and would then read every transfer of the institution to throw away those of other accounts.
drop index transfers_listed;
create index transfers_listed on transfers (institution_id, list_class, created_at, transfer_key)
  where transfer_key > 0;

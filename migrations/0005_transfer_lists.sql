-- Lists of transfers, newest first, by who asks and what for, read from an index to the row and no further.
--
-- A list is filtered by status and type. Both stand in one small number, so that an index can lead to each combination in
-- order of time; a list merges the combinations it wants. (PENDING 0, COMPLETED 10, FAILED 20, plus the type's
-- place; an order refused before its type could be told has none.)
alter table transfers add column list_class smallint not null generated always as (
  case status when 'PENDING' then 0 when 'COMPLETED' then 10 else 20 end
  + case transfer_type when 'STANDARD' then 1 when 'CROSS_MEMBER' then 2 when 'IRA_CONTRIBUTION' then 3
                       when 'LOAN_PAYMENT' then 4 when 'INTRA_FI' then 5 else 0 end
) stored;

-- To a client: all of its institution. To a member: what they ordered, and what leaves the accounts they hold. Of one
-- account: what leaves it, and what reaches it.
create index transfers_listed on transfers (institution_id, list_class, created_at, transfer_key);
create index transfers_by_user on transfers (institution_id, user_key, list_class, created_at, transfer_key)
  where user_key is not null;
create index transfers_by_source on transfers (institution_id, from_key, list_class, created_at, transfer_key)
  where from_key is not null;
create index transfers_by_destination on transfers (institution_id, to_key, list_class, created_at, transfer_key)
  where to_key is not null;

-- A number for one entry and for the same entry as a transfer or the core orders it. A posting that ends its hold counts as SETTLEMENT.
-- The standard's function body resolves its names once and is inlined.
create or replace function control_number(kind text, posting bigint, account bigint, amount bigint) returns bigint
language sql immutable
return hashint8extended(posting, hashint8extended(account, hashint8extended(amount,
  case kind when 'HOLD' then 1 when 'RELEASE' then 2 when 'SETTLEMENT' then 3
  when 'CORE' then 4 when 'CORE_HOLD' then 5 when 'CORE_RELEASE' then 6 else 0 end)));

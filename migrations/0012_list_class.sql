-- The list class of a transfer as an ordinary column: a new type or status changes the function list_class_of, and rewrites
-- no row of the table.

alter table transfers alter column list_class drop expression;

-- An insert names the class, which is cheaper by the call of the trigger; it cannot name another one.
create trigger transfers_classified before insert or update on transfers
  for each row when (new.list_class is distinct from list_class_of(new.status, new.transfer_type))
  execute function set_list_class();
-- Also in a session that applies replicated rows.
alter table transfers enable always trigger transfers_classified;

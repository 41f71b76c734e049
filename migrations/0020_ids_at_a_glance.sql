-- As before, said so that it is found out faster: for a bounded repetition the matching of a pattern goes through as many
-- states as the id has characters, and begins anew with each row.
alter table transfers
  drop constraint transfers_transfer_id_check,
  add constraint transfers_transfer_id_check
    check (length(transfer_id) <= 64 and transfer_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]*$');

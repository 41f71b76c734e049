-- Capitals and spaces make nobody a second person.
create unique index transfer_approvals_by_person on transfer_approvals
  (institution_id, transfer_key, lower(btrim(operator)));

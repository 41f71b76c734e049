-- A batch may post a transfer and take it back: what a reversal takes back is looked at when both are written.
drop trigger transfers_reversing on transfers;
create constraint trigger transfers_reversing after insert on transfers
  deferrable initially deferred
  for each row when (new.reverses_key is not null) execute function check_reversal();

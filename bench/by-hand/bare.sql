begin;
update accounts set balance = balance + case when account_id = :from then -1 else 1 end where account_id = :low;
update accounts set balance = balance + case when account_id = :from then -1 else 1 end where account_id = :high;
insert into transfers (from_id, to_id, amount, created_at) values (:from, :to, 1, now()) returning transfer_id \gset
insert into entries (transfer_id, account_id, amount, created_at) values (:transfer_id, :from, -1, now()), (:transfer_id, :to, 1, now());
commit;

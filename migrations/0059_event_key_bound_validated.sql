-- In a migration of its own: no write waits for the scan of a large table.
alter table outbox validate constraint outbox_first_partition;

-- Beside the running service: the check of 0088 on the rows from before.

alter table user_devices validate constraint user_devices_kind;

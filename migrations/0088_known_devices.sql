-- The kind of a known device, for operators who serve the member. A device that was noted before gets it at its next sign-in of a later day.

alter table user_devices
  add column kind text,
  add column client_id text,
  add column name text,
  add constraint user_devices_kind check (kind in ('BROWSER', 'KEY', 'APP', 'APP_WITHOUT_ID')) not valid;
comment on column user_devices.kind is 'The mark that is hashed: the cookie of a browser, the DPoP key of an app, its device_id, or none: then all devices of the app are one.';
comment on column user_devices.client_id is 'The app of the sign-in that wrote the row last.';
comment on column user_devices.name is 'Browser and system that the User-Agent of that sign-in claimed.';
grant update (kind, client_id, name) on user_devices to sharedraft_service;

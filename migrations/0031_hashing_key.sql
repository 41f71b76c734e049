-- The key of stored hashes outlives SECRET_KEY: client secrets and refresh tokens cannot be hashed again, since no one has their text.

create table hashing_key (
  only_row    boolean primary key default true check (only_row),
  sealed_key  bytea not null check (length(sealed_key) = 60)
);

comment on table hashing_key is 'The key of stored hashes, once SECRET_KEY was changed. Without a row it is derived from SECRET_KEY.';
comment on column hashing_key.sealed_key is 'AES-256-GCM under the service''s key-encryption key.';

grant select, insert, update on hashing_key to sharedraft_service;
grant update (sealed_private_key) on audit_keys to sharedraft_service;
grant update (sealed_secret, sealed_private_key) on webhook_keys to sharedraft_service;

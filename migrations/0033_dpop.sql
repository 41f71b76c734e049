-- DPoP (RFC 9449): tokens that are bound to a key of the app.

alter table clients add column requires_dpop boolean not null default false;
comment on column clients.requires_dpop is 'Its tokens are bound to a key (RFC 9449).';
grant update (requires_dpop) on clients to sharedraft_service;

alter table authorization_grants
  add column key_thumbprint text collate "C",
  add constraint authorization_grants_key_thumbprint check (key_thumbprint ~ '^[A-Za-z0-9_-]{43}$') not valid;
comment on column authorization_grants.key_thumbprint is 'The key that the tokens must be bound to (RFC 9449 section 10); null: the app named none.';

alter table refresh_families
  add column key_thumbprint text collate "C",
  add constraint refresh_families_key_thumbprint check (key_thumbprint ~ '^[A-Za-z0-9_-]{43}$') not valid;
comment on column refresh_families.key_thumbprint is 'The key of the proof with which the login began (RFC 9449 section 5); null for bearer tokens.';
create trigger refresh_families_bound before insert on refresh_families
  for each row execute function check_new_refresh_family();

-- Unlogged: each request of a bound token writes a row, and no commit waits for it. A crash of the server empties it; a proof that was used
-- before the crash could then come once more, within the minutes of its nonce. No foreign key: its lock would make the commit wait.
create unlogged table dpop_proofs (
  institution_id  integer not null,
  proof_hash      bytea not null check (length(proof_hash) = 32),
  expires_at      timestamptz not null,
  primary key (institution_id, proof_hash)
);
create index dpop_proofs_by_expiry on dpop_proofs (institution_id, expires_at);

comment on table dpop_proofs is 'Replay cache: each proof of a key is accepted once.';
comment on column dpop_proofs.proof_hash is 'SHA-256 of the key''s thumbprint and the proof''s jti.';

select bind_to_institution('dpop_proofs');
grant select, insert, delete on dpop_proofs to sharedraft_service;

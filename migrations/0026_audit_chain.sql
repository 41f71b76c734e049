-- The audit is chained by hash. A sealer gives each committed entry the next number of its chain and a hash over its content and the
-- hash before it, so that no transaction waits for another (ADR 43). Personal fields stand in the content as one salted hash: they and
-- their salt can be erased, and the chain still verifies.

alter table audit_entries
  add column personal jsonb,
  add column erased_at timestamptz,
  add column chain text check (chain in ('access', 'changes')),
  add column chain_number bigint check (chain_number > 0),
  add column sealed_at timestamptz,
  add column personal_salt bytea check (length(personal_salt) = 32),
  add column personal_hash bytea check (length(personal_hash) = 32),
  add column chain_hash bytea check (length(chain_hash) = 32),
  add constraint audit_entries_sealed check
    (num_nonnulls(chain, chain_number, sealed_at, personal_hash, chain_hash) in (0, 5)),
  add constraint audit_entries_erased check
    (erased_at is null or num_nonnulls(address, name_hash, stated_reason, personal, personal_salt) = 0);
create unique index audit_entries_by_number on audit_entries (institution_id, chain, chain_number)
  where chain_number is not null;
create index audit_entries_unsealed on audit_entries (institution_id, audit_key) where chain_number is null;
create index audit_entries_by_user on audit_entries (institution_id, user_id, audit_key) where user_id is not null;
create index audit_entries_by_subject on audit_entries (institution_id, subject, audit_key) where subject is not null;

create trigger audit_entries_kept before update or delete on audit_entries
  for each row when (old.chain_number is not null) execute function check_audit_entry_kept();

comment on table audit_entries is
  'The audit trail: acts, their origin and outcome. Insert-only, and chained by hash. It holds no secret and no token. Personal data stands only in address, name_hash, stated_reason and personal.';
comment on column audit_entries.personal is 'Personal data that the act changed: its members before and after. Erasable.';
comment on column audit_entries.erased_at is 'When the personal fields and their salt were erased.';
comment on column audit_entries.chain is 'access: sign-ins, refusals and reads. changes: every other act. Null until sealed.';
comment on column audit_entries.chain_number is 'Number in the chain, from 1 without a gap.';
comment on column audit_entries.personal_salt is 'Key of personal_hash. No hash of the chain contains it.';
comment on column audit_entries.personal_hash is 'HMAC-SHA-256 of the personal fields under their salt.';
comment on column audit_entries.chain_hash is
  'SHA-256 of the chain hash before it and of the hash of the content. docs/audit.md describes the content.';

create table audit_chains (
  institution_id  integer not null check (institution_id >= 0),
  chain           text not null check (chain in ('access', 'changes')),
  number          bigint not null check (number >= 0),
  hash            bytea not null check (length(hash) = 32),
  pruned_to       bigint not null default 0 check (pruned_to >= 0),
  pruned_hash     bytea not null check (length(pruned_hash) = 32),
  primary key (institution_id, chain),
  constraint audit_chains_pruned check (pruned_to <= number)
);

comment on table audit_chains is 'The end of each chain, and the number up to which it was pruned.';
comment on column audit_chains.number is 'Number of the last sealed entry; 0 before the first.';
comment on column audit_chains.hash is 'Its chain hash; zeros before the first.';

create table audit_keys (
  key_id              uuid primary key,
  public_key          text not null check (public_key ~ '^[A-Za-z0-9_-]{43}$'),
  sealed_private_key  bytea not null,
  created_at          timestamptz not null
);

comment on table audit_keys is 'Ed25519 keys that sign anchors. The newest signs; all verify.';
comment on column audit_keys.public_key is 'The parameter x of the JSON Web Key (RFC 8037).';
comment on column audit_keys.sealed_private_key is 'AES-256-GCM under the service''s key-encryption key.';

create table audit_anchors (
  institution_id  integer not null check (institution_id >= 0),
  chain           text not null check (chain in ('access', 'changes')),
  number          bigint not null check (number > 0),
  hash            bytea not null check (length(hash) = 32),
  signed_at       timestamptz not null,
  jws             text collate "C" not null check (length(jws) <= 2000 and jws ~ '^[A-Za-z0-9_.-]+$'),
  primary key (institution_id, chain, number)
);

comment on table audit_anchors is 'Signed statements of the hash at a number of a chain.';
comment on column audit_anchors.jws is 'The anchor, as a compact JSON Web Signature with EdDSA.';

-- 1827 days are five years (31 CFR 1010.430).
create table audit_retention (
  institution_id  integer not null check (institution_id >= 0),
  access_days     integer not null check (access_days between 90 and 36600),
  changes_days    integer not null check (changes_days between 1827 and 36600),
  primary key (institution_id)
);

comment on table audit_retention is 'How long an institution keeps its audit, if it is not as long as the settings say.';

select bind_to_institution('audit_chains', 'audit_anchors', 'audit_retention');

-- The service appends entries; owner's functions alone seal, erase and prune them.
revoke insert on audit_entries from sharedraft_service;
grant insert (institution_id, recorded_at, action, outcome, reason, stated_reason, client_id, user_id, subject, name_hash, address,
              operator, operator_host, sudo_user, operator_as, before_change, after_change, personal, transaction_id, times)
  on audit_entries to sharedraft_service;
grant select on audit_chains to sharedraft_service;
grant select, insert on audit_keys, audit_anchors to sharedraft_service;
grant select, insert, update on audit_retention to sharedraft_service;
drop function if exists expire_audit_entries(timestamptz, integer);

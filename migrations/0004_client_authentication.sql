-- How clients prove who they are and what each may, and what ends the tokens that are already out.

alter table clients
  -- From where the client may authenticate; null: from anywhere. IPv4 is written as IPv4.
  add column networks cidr[],
  add constraint clients_networks check
    (cardinality(networks) > 0 and not '::ffff:0:0/96'::cidr >>= any (networks)),
  -- Stands in every token that the client obtains; raised, it ends them.
  add column token_epoch integer not null default 0 check (token_epoch >= 0);

alter table users
  add column token_epoch integer not null default 0 check (token_epoch >= 0);

-- Two secrets may be valid at once, so that one can be replaced without an hour when neither works.
alter table client_secrets
  add column slot smallint not null default 1 check (slot in (1, 2)),
  add constraint client_secrets_two unique (institution_id, client_id, slot);
alter table client_secrets alter column slot drop default;

create table client_keys (
  institution_id  integer not null,
  client_id       text collate "C" not null,
  kid             text collate "C" not null check (kid ~ '^[!-~]{1,128}$'),
  -- The one algorithm that the key may be used with, whatever an assertion's header says.
  algorithm       text not null check (algorithm in ('ES256', 'RS256', 'PS256', 'EdDSA')),
  -- Public members only.
  public_jwk      jsonb not null check (not public_jwk ?| array['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']),
  created_at      timestamptz not null,
  primary key (institution_id, client_id, kid),
  foreign key (institution_id, client_id) references clients
);

-- Assertions that clients used up, each once, for as long as they could be played again.
create table spent_client_assertions (
  institution_id  integer not null references institutions,
  -- A keyed hash of the client's id and the assertion's.
  assertion_hash  bytea not null check (length(assertion_hash) = 32),
  expires_at      timestamptz not null,
  primary key (institution_id, assertion_hash)
);
create index spent_client_assertions_by_expiry on spent_client_assertions (institution_id, expires_at);

-- Whoever switches a client off, or locks or deactivates a user, ends their tokens for good: switching on again does
-- not bring them back. (A lock by wrong passwords is none of these: else anyone could log members out.)
create function end_tokens() returns trigger language plpgsql as $$
begin
  new.token_epoch := old.token_epoch + 1;
  return new;
end
$$;

create trigger clients_switched_off before update of active on clients
  for each row when (old.active and not new.active) execute function end_tokens();
create trigger users_shut_out before update of active, locked_by_operator on users
  for each row when ((old.active and not new.active) or (not old.locked_by_operator and new.locked_by_operator))
  execute function end_tokens();

do $$
declare
  tenant text;
begin
  foreach tenant in array array['client_keys', 'spent_client_assertions'] loop
    execute format('alter table %I enable row level security', tenant);
    execute format('alter table %I force row level security', tenant);
    execute format(
      'create policy institution on %I using (institution_id = '
      '(select current_setting(''sharedraft.institution'')::integer))', tenant);
  end loop;
end
$$;

grant select, insert, delete on client_keys, spent_client_assertions to sharedraft_service;
grant update (networks) on clients to sharedraft_service;
grant update (token_epoch) on users to sharedraft_service;

-- An access token that a provider issued opens nothing if it was issued before its member was last locked, unlocked, deactivated or
-- activated, or before the provider was last switched off or on. The service gives the moment; a statement that gives none gets
-- the server's. It never goes back.

alter table users add column tokens_ended_at timestamptz;
alter table identity_providers add column tokens_ended_at timestamptz;

create function end_provider_tokens() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if new.tokens_ended_at is not distinct from old.tokens_ended_at then
    new.tokens_ended_at := clock_timestamp();
  end if;
  new.tokens_ended_at := greatest(old.tokens_ended_at, new.tokens_ended_at);
  return new;
end
$$;

create trigger users_provider_tokens before update of active, locked_by_operator, tokens_ended_at on users
  for each row when ((old.active, old.locked_by_operator) is distinct from (new.active, new.locked_by_operator)
                     or old.tokens_ended_at is distinct from new.tokens_ended_at)
  execute function end_provider_tokens();
create trigger identity_providers_tokens before update of active, resource_tokens, tokens_ended_at on identity_providers
  for each row when ((old.active, old.resource_tokens) is distinct from (new.active, new.resource_tokens)
                     or old.tokens_ended_at is distinct from new.tokens_ended_at)
  execute function end_provider_tokens();

grant update (tokens_ended_at) on users, identity_providers to sharedraft_service;

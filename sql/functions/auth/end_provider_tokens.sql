-- A provider's access token is void if it was issued before its member was last locked, unlocked, deactivated or activated, or
-- before the provider was last switched off or on. The service sets that moment; for a statement that sets none, the server's
-- clock does. It never goes back.
create or replace function end_provider_tokens() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if new.tokens_ended_at is not distinct from old.tokens_ended_at then
    new.tokens_ended_at := clock_timestamp();
  end if;
  new.tokens_ended_at := greatest(old.tokens_ended_at, new.tokens_ended_at);
  return new;
end
$$;

-- Deactivating a client or user, or locking a user, revokes their tokens for good. A lock after wrong passwords does not: otherwise
-- anyone could log members out.
create or replace function raise_token_epoch() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  new.token_epoch := old.token_epoch + 1;
  return new;
end
$$;

-- Revoked tokens stay revoked: the epoch never goes back.
create or replace function refuse_lower_token_epoch() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  raise exception 'the tokens of user % are revoked and cannot become active again', old.user_key
    using errcode = 'check_violation', constraint = 'users_token_epoch';
end
$$;

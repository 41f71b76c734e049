-- Tokens that ended stay ended: a user's epoch, by which their tokens are known, goes up and never back.

create function check_token_epoch() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  raise exception 'the tokens of user % have ended and cannot come back', old.user_key
    using errcode = 'check_violation', constraint = 'users_token_epoch';
end
$$;

create trigger users_token_epoch before update of token_epoch on users
  for each row when (new.token_epoch < old.token_epoch) execute function check_token_epoch();

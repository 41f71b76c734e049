-- After 100 failed logins the password has expired (NIST SP 800-63B-4, 3.2.2). Only a new password resets the count.
create or replace function refuse_failed_login_reset() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  raise exception 'the password of user % has expired and cannot be used again', old.user_key
    using errcode = 'check_violation', constraint = 'users_expired_password';
end
$$;

-- Wrong passwords in a row are counted up to a hundred (NIST SP 800-63B-4, 3.2.2), over all locks between them.
alter table users drop constraint users_failed_logins_check;
alter table users add constraint users_failed_logins_check check (failed_logins between 0 and 100);

-- After a hundred the password has ended: only another password starts the count again.
create function check_ended_password() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp
as $$
begin
  raise exception 'the password of user % has ended and cannot be used again', old.user_key
    using errcode = 'check_violation', constraint = 'users_ended_password';
end
$$;

create trigger users_ended_password before update of failed_logins on users
for each row when (old.failed_logins = 100 and new.failed_logins < 100 and new.password_hash is not distinct from old.password_hash)
execute function check_ended_password();

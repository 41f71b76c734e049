-- The signature counter of a passkey only grows, unless its authenticator has none (WebAuthn level 3, section 6.1.1).
create or replace function check_passkey() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if new.sign_count <= old.sign_count and (new.sign_count, old.sign_count) <> (0, 0) then
    raise exception 'passkey %: the counter % does not follow %', old.passkey_id, new.sign_count, old.sign_count
      using errcode = 'SD211';
  end if;
  return new;
end
$$;

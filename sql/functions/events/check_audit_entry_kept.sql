-- A sealed entry stays as it is. Its personal fields may be erased together, and it may be deleted once its chain was pruned beyond it.
create or replace function check_audit_entry_kept() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if tg_op = 'DELETE' then
    if old.chain_number > coalesce((
      select c.pruned_to from audit_chains c
      where c.institution_id = old.institution_id and c.chain = old.chain), 0) then
      raise exception 'audit: a sealed entry cannot be deleted' using errcode = 'SD110';
    end if;
    return old;
  end if;
  if new.erased_at is null
     or (to_jsonb(new) - '{address,name_hash,stated_reason,personal,personal_salt,erased_at}'::text[])
        is distinct from (to_jsonb(old) - '{address,name_hash,stated_reason,personal,personal_salt,erased_at}'::text[]) then
    raise exception 'audit: a sealed entry cannot be changed' using errcode = 'SD110';
  end if;
  return new;
end
$$;

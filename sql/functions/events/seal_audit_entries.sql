-- Seals entries of the caller's institution as the next ones of a chain, in the order given, and returns the number of the last.
-- It runs as the owner, since the service cannot change an entry. `previous` is the hash on which the caller built; if
-- another process has sealed since, nothing is sealed.
create or replace function seal_audit_entries(
  of_chain text, previous bytea, keys bigint[], contents bytea[], personals bytea[], salts bytea[], at timestamptz)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
  institution constant integer := current_setting('sharedraft.institution');
  zeros constant bytea := decode(repeat('00', 32), 'hex');
  last record;
begin
  insert into public.audit_chains (institution_id, chain, number, hash, pruned_hash)
  values (institution, of_chain, 0, zeros, zeros) on conflict do nothing;
  select c.number, c.hash into last from public.audit_chains c
  where c.institution_id = institution and c.chain = of_chain for update;
  if last.hash <> previous then
    raise exception 'audit: the chain % has grown meanwhile', of_chain using errcode = 'SD111';
  end if;
  for place in 1 .. cardinality(keys) loop
    last.number := last.number + 1;
    last.hash := sha256(last.hash || contents[place]);
    update public.audit_entries e
    set chain = of_chain, chain_number = last.number, chain_hash = last.hash, personal_hash = personals[place],
        personal_salt = salts[place], sealed_at = at
    where e.institution_id = institution and e.audit_key = keys[place] and e.chain_number is null;
    if not found then
      raise exception 'audit: an entry is sealed or missing' using errcode = 'SD111';
    end if;
  end loop;
  update public.audit_chains c set number = last.number, hash = last.hash
  where c.institution_id = institution and c.chain = of_chain;
  return last.number;
end
$$;

revoke execute on function seal_audit_entries(text, bytea, bigint[], bytea[], bytea[], bytea[], timestamptz) from public;
grant execute on function seal_audit_entries(text, bytea, bigint[], bytea[], bytea[], bytea[], timestamptz) to sharedraft_service;

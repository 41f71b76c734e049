-- Prefixes of different clients do not overlap. The lock lets one writer at a time look and write.
create or replace function check_transfer_id_prefix() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  lock table public.transfer_id_prefixes in share row exclusive mode;
  if exists (
    select from public.transfer_id_prefixes p
    where p.institution_id = new.institution_id and p.client_id <> new.client_id
      and (starts_with(p.prefix, new.prefix) or starts_with(new.prefix, p.prefix))
  ) then
    raise exception 'clients: the prefix overlaps a prefix of another client' using errcode = 'SD023';
  end if;
  return new;
end
$$;

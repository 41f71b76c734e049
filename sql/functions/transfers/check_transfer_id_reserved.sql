-- A client does not use an id that begins with another client's prefix. An operator's order has no client.
create or replace function check_transfer_id_reserved() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if exists (
    select from public.transfer_id_prefixes p
    join written t on t.institution_id = p.institution_id and starts_with(t.transfer_id, p.prefix)
      and t.client_id <> p.client_id
  ) then
    raise exception 'transfers: the id is reserved for another client' using errcode = 'SD024';
  end if;
  return null;
end
$$;

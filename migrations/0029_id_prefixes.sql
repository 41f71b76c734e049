-- Ids of transfers are one namespace in an institution. A client may hold prefixes of its own in it, and an order whose
-- source its caller cannot see leaves nothing behind.

create table transfer_id_prefixes (
  institution_id  integer not null,
  -- Holds a character that no id made by the service has: neither a UUID nor one derived from an Idempotency-Key.
  prefix          text collate "C" not null check (
    prefix ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{1,31}$' and prefix ~ '[^0-9a-f-]'
    and not starts_with(prefix, 'key:') and not starts_with('key:', prefix)),
  client_id       text collate "C" not null,
  primary key (institution_id, prefix),
  foreign key (institution_id, client_id) references clients (institution_id, client_id)
);
create index transfer_id_prefixes_by_client on transfer_id_prefixes (institution_id, client_id);

alter table transfer_id_prefixes enable row level security;
alter table transfer_id_prefixes force row level security;
create policy institution on transfer_id_prefixes
  using (institution_id = (select current_setting('sharedraft.institution')::integer));
grant select, insert, delete on transfer_id_prefixes to sharedraft_service;

-- An id begins with the prefixes of one client at most. The lock lets one writer at a time look and write.
create function check_id_prefix() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  lock table public.transfer_id_prefixes in share row exclusive mode;
  if exists (
    select from public.transfer_id_prefixes p
    where p.institution_id = new.institution_id and p.client_id <> new.client_id
      and (starts_with(p.prefix, new.prefix) or starts_with(new.prefix, p.prefix))
  ) then
    raise exception 'clients: the prefix overlaps with one of another client' using errcode = 'SD023';
  end if;
  return new;
end
$$;

create trigger transfer_id_prefixes_apart before insert on transfer_id_prefixes
  for each row execute function check_id_prefix();

-- An operator's order has no client, and no prefix binds it.
create function check_id_reserved() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
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

create trigger transfers_reserved after insert on transfers referencing new table as written
  for each statement execute function check_id_reserved();

-- Not validated: rows of before were written under the earlier rule.
alter table transfers add constraint transfers_source check (from_key is not null) not valid;

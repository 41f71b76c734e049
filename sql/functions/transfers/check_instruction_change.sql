-- An instruction is decided once. One that was delivered stays delivered, in the file that contains it.
create or replace function check_instruction_change() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if old.state <> 'OPEN' then
    raise exception 'instructions: the outcome of instruction % is final', old.sequence using errcode = 'SD070';
  end if;
  if new.delivered_at is distinct from coalesce(old.delivered_at, new.delivered_at)
     or new.file_number is distinct from coalesce(old.file_number, new.file_number)
     or new.state in ('ACCEPTED', 'REJECTED') and new.delivered_at is null then
    raise exception 'instructions: instruction % was delivered', old.sequence using errcode = 'SD070';
  end if;
  return new;
end
$$;

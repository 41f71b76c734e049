-- Refuses each change of an institution that is not served here. A move attaches it to every table, for rows of the institutions that
-- have moved or are moving (src/cells/fence.ts). The shared lock lets the move wait for the transactions that passed.
create or replace function check_fence() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  institution constant integer := case tg_op when 'DELETE' then old.institution_id else new.institution_id end;
  state text;
begin
  -- The move itself. The service's login may not write this column.
  if tg_table_name = 'institutions' and tg_op = 'UPDATE' then
    if new.served <> old.served then
      return new;
    end if;
  end if;
  perform pg_advisory_xact_lock_shared(7305108, institution);
  -- A statement of its own: it sees what was committed while the lock was waited for.
  state := (select i.served from institutions i where i.institution_id = institution);
  if state in ('arriving', 'leaving') then
    raise exception 'institution % is moving', institution using errcode = 'SD150';
  elsif state in ('left', 'gone') then
    raise exception 'institution % is served by another cell', institution using errcode = 'SD151';
  end if;
  return case tg_op when 'DELETE' then old else new end;
end
$$;

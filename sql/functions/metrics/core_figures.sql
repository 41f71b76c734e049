-- The figures of the cores of all institutions whose core keeps the books, in one question. Like operational_figures it runs with the
-- caller's rights, and enters one institution after the other. Counts stop at 10,000 of an institution.
create or replace function core_figures(
  at timestamptz,
  out cores integer,
  out silence_seconds double precision,
  out open_instructions integer,
  out oldest_instruction_seconds double precision)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  most constant integer := 10000;
  each record;
  own record;
begin
  cores := 0;
  open_instructions := 0;
  oldest_instruction_seconds := 0;
  for each in
    select i.institution_id as id, i.clock_ahead_seconds as ahead from public.institutions i
    where i.record = 'core' and i.served = 'here'
  loop
    perform set_config('sharedraft.institution', each.id::text, true);
    cores := cores + 1;

    silence_seconds := greatest(silence_seconds, (
      select extract(epoch from at - c.heard_at) from public.core_connections c where c.institution_id = each.id));

    select count(*) as open, min(s.issued_at) as oldest
    into own
    from (
      select n.issued_at from public.core_instructions n
      where n.institution_id = each.id and n.state = 'OPEN' order by n.sequence limit most) s;
    open_instructions := open_instructions + own.open;
    oldest_instruction_seconds := greatest(
      oldest_instruction_seconds, extract(epoch from at + make_interval(secs => each.ahead) - own.oldest));
  end loop;
end
$$;

revoke execute on function core_figures(timestamptz) from public;
grant execute on function core_figures(timestamptz) to sharedraft_service;

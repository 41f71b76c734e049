-- The open breaks of each institution whose core keeps the books, by class, in one question. Like operational_figures it runs with the
-- caller's rights, and enters one institution after the other.
create or replace function break_figures(at timestamptz)
returns table (class text, open integer, oldest_seconds double precision)
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  each record;
begin
  for each in
    select i.institution_id as id, i.clock_ahead_seconds as ahead from public.institutions i
    where i.record = 'core' and i.served = 'here'
  loop
    perform set_config('sharedraft.institution', each.id::text, true);
    return query
      select b.class, count(*)::integer,
             extract(epoch from at + make_interval(secs => each.ahead) - min(b.opened_at))::double precision
      from public.core_breaks b where b.institution_id = each.id and b.closed_at is null
      group by b.class;
  end loop;
end
$$;

revoke execute on function break_figures(timestamptz) from public;
grant execute on function break_figures(timestamptz) to sharedraft_service;

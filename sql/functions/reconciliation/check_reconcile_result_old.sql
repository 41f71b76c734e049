-- Nobody removes what a run has found before people have had time to read it, and nobody the last run.
create or replace function check_reconcile_result_old() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if old.finished_at > now() - interval '90 days' or exists (
    select from reconcile_runs r where r.institution_id = old.institution_id and r.run_key = old.run_key
  ) then
    raise exception 'reconcile_results: a run stays for ninety days, and the last one longer' using errcode = 'SD221';
  end if;
  return old;
end
$$;

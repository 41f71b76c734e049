-- A proposal is confirmed once; the confirming transaction is recorded by the database.
create or replace function check_proposal_confirmed() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if old.confirmed_at is not null or new.confirmed_at is null then
    raise exception 'proposals: a proposal can be confirmed once' using errcode = 'SD050';
  end if;
  new.confirmed_xid := pg_current_xact_id();
  return new;
end
$$;

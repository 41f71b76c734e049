-- Keeps the audit of the directory as it was written.
create or replace function refuse_directory_change() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  raise exception 'entries of the directory''s audit never change' using errcode = 'SD160';
end
$$;

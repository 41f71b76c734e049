-- The number of an institution's moves never shrinks, since a cell with a higher one would go on serving.
create or replace function check_directory_moves() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if new.moves < old.moves then
    raise exception 'institution % has moved % times', old.institution_id, old.moves using errcode = 'SD162';
  end if;
  return new;
end
$$;

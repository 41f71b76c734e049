-- The steps of a move, in order. A new institution has a number of its cell; one that arrives has a number of another.
create or replace function check_served() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
declare
  own boolean := (select new.institution_id between c.first_number and c.last_number from cell c);
begin
  if tg_op = 'INSERT' then
    if new.served not in ('here', 'arriving') or own = (new.served = 'arriving') then
      raise exception 'institutions: % is no number of this cell for one that is %', new.institution_id, new.served
        using errcode = 'SD152';
    end if;
  elsif new.served <> old.served and (old.served, new.served) not in (
    ('here', 'leaving'), ('leaving', 'here'), ('leaving', 'left'), ('left', 'here'), ('left', 'gone'), ('gone', 'arriving'),
    ('arriving', 'here'), ('arriving', 'gone')) then
    raise exception 'institutions: % cannot be % after it was %', new.institution_id, new.served, old.served
      using errcode = 'SD152';
  end if;
  if tg_op = 'UPDATE' and new.moves < old.moves then
    raise exception 'institutions: % has moved % times', new.institution_id, old.moves using errcode = 'SD152';
  end if;
  return new;
end
$$;

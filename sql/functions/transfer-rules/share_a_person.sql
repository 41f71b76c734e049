-- Whether two acts have a name in common, and so count as the same person's.
create or replace function share_a_person(one text[], other text[]) returns boolean
language sql immutable
set search_path = pg_catalog, public, pg_temp
as $$
  select exists (select from unnest(one) a join unnest(other) b on fold_name(a) = fold_name(b))
$$;

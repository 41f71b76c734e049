-- Maps look-alike names to one: compatibility forms, case, spaces, controls and invisible characters. In a database whose locale is
-- C, lower() folds ASCII only; the service folds the rest.
create or replace function fold_name(name text) returns text
language sql immutable
set search_path = pg_catalog, public, pg_temp
as $$
  select lower(regexp_replace(normalize(name, NFKC),
    '[\s[:cntrl:]\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB\U000E0000-\U000E0FFF]',
    '', 'g'))
$$;

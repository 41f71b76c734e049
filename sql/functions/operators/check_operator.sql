-- The life of an operator. An invited one becomes active or ends, an active one may be suspended and come back, and ENDED is final. Only an
-- invitation begins as INVITED. Buttons of a demo make operators in a demo only.
create or replace function check_operator() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if tg_op = 'UPDATE' then
    if old.status = 'ENDED' then
      raise exception 'operators: an operator who has ended stays so' using errcode = 'SD140';
    end if;
    if new.status = 'INVITED' and old.status <> 'INVITED' then
      raise exception 'operators: only a new operator is invited' using errcode = 'SD140';
    end if;
    if old.status = 'INVITED' and new.status = 'SUSPENDED' then
      raise exception 'operators: an invited operator becomes active or ends' using errcode = 'SD140';
    end if;
  else
    if (new.source = 'INVITATION') <> (new.status = 'INVITED') then
      raise exception 'operators: an operator begins with an invitation or with a sign-in' using errcode = 'SD140';
    end if;
    if new.source = 'DEMO'
      and not exists (select from institutions i where i.institution_id = new.institution_id and i.demo) then
      raise exception 'operators: the institution is no demo' using errcode = 'SD140';
    end if;
  end if;
  return new;
end
$$;

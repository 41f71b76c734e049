-- The operator behind an audited act, as far as the operating system can tell, and what the act changed.

alter table audit_entries
  add column operator_host  text check (length(operator_host) between 1 and 128),
  -- Set by sudo, and by anyone who likes: kept, and never taken for a second person.
  add column sudo_user      text check (length(sudo_user) between 1 and 128),
  -- A typed name, which a demo institution alone accepts.
  add column operator_as    text check (length(operator_as) between 1 and 128),
  -- Members that a change on purpose replaced, and what it put there. No secret and no member's personal data.
  add column before_change  jsonb,
  add column after_change   jsonb,
  add check (operator is not null or num_nonnulls(operator_host, sudo_user, operator_as) = 0);
comment on column audit_entries.operator is 'The system user that the command ran as.';

-- A real institution's operators are not typed names, also where a command failed to see that it is no demo.
create function check_typed_operator() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if not exists (select from institutions i where i.institution_id = new.institution_id and i.demo) then
    raise exception 'audit: a typed operator is for demo institutions' using errcode = 'SD020';
  end if;
  return new;
end
$$;

create trigger audit_entries_typed_operator before insert on audit_entries
  for each row when (new.operator_as is not null) execute function check_typed_operator();

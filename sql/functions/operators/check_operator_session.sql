-- A session begins for an active operator only, and by the way of signing in that the operator has: a provider is that of the institution. That of a command line also needs the
-- approval of a session that has not ended.
create or replace function check_operator_session() returns trigger
language plpgsql
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if not exists (
    select from operators o
    where o.institution_id = new.institution_id and o.operator_id = new.operator_id and o.status = 'ACTIVE'
      and o.source = case new.method when 'passkey' then 'INVITATION' when 'provider' then 'PROVIDER' else 'DEMO' end
      and (o.source <> 'PROVIDER' or exists (
        select from operator_providers p where p.institution_id = o.institution_id and p.issuer = o.provider_issuer))) then
    raise exception 'operators: the operator is not active, or signs in another way' using errcode = 'SD142';
  end if;
  if new.kind = 'COMMAND_LINE' and not exists (
    select from operator_device_requests d
    join operator_sessions s
      on s.institution_id = d.institution_id and s.session_id = d.session_id and s.operator_id = d.operator_id
    where d.institution_id = new.institution_id and d.operator_id = new.operator_id and d.is_approved
      and (d.method, d.authenticated_at) = (new.method, new.authenticated_at) and s.ended_at is null) then
    raise exception 'operators: no session that has not ended approved this command line' using errcode = 'SD143';
  end if;
  return new;
end
$$;

-- Notes each thing that a statement's rows belong to, once: an account, a user, a client … The trigger's arguments name the
-- kinds of things; note_changes_of() attaches it. A thing is a number, which src/memory/basis.ts computes from the same keys.
-- The function runs as the owner, because no other login may write the table.
create or replace function note_changes() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
  kind text;
begin
  if tg_op = 'TRUNCATE' then
    insert into public.changes select pg_current_xact_id(), i.institution_id, 0 from public.institutions i;
    return null;
  end if;
  foreach kind in array tg_argv loop
    case kind
      when 'institution' then
        insert into public.changes select distinct pg_current_xact_id(), t.institution_id, 0 from touched t;
      when 'core' then
        insert into public.changes select distinct pg_current_xact_id(), t.institution_id, 1 from touched t;
      when 'account' then
        insert into public.changes
        select distinct pg_current_xact_id(), t.institution_id, 4096 + (t.account_key & 4095)::integer from touched t;
      when 'person' then
        insert into public.changes
        select distinct pg_current_xact_id(), t.institution_id, 8192 + (t.person_key & 4095)::integer from touched t;
      when 'user' then
        insert into public.changes
        select distinct pg_current_xact_id(), t.institution_id, 12288 + (t.user_key & 4095)::integer from touched t;
      when 'customer' then
        -- An internal account belongs to no membership.
        insert into public.changes
        select distinct pg_current_xact_id(), t.institution_id, 16384 + (t.customer_key & 4095)::integer from touched t
        where t.customer_key is not null;
      when 'revocation' then
        -- Takes the last bits, because some kinds of UUID begin with a time.
        insert into public.changes
        select distinct pg_current_xact_id(), t.institution_id,
               20480 + ((get_byte(uuid_send(t.revoked_id), 14) & 15) << 8) + get_byte(uuid_send(t.revoked_id), 15)
        from touched t;
    end case;
  end loop;
  return null;
end
$$;

revoke execute on function note_changes() from public;

-- Erases the data of the events about a member, of the caller's institution, and returns their number. The events stay in the feed.
create or replace function erase_member_events(user_key bigint) returns bigint
language sql security definer
set search_path = pg_catalog, public, pg_temp
as $$
  with erased as (
    update public.outbox o set data = null, secret = null, secret_expires_at = null
    where o.institution_id = current_setting('sharedraft.institution')::integer and o.subject_key = erase_member_events.user_key
      and (o.kind like 'member.%' or o.kind like 'consent.%') and num_nonnulls(o.data, o.secret) > 0
    returning 1)
  select count(*) from erased
$$;

revoke execute on function erase_member_events(bigint) from public;
grant execute on function erase_member_events(bigint) to sharedraft_service;

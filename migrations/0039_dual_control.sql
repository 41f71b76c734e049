-- Dual control: where any policy names a second approval, a reversal and a change of the rules take two persons as well. The
-- first proposes. Another system user confirms, by the same command with the same content.

create table proposals (
  institution_id  integer not null references institutions,
  proposal_key    bigint not null generated always as identity,
  kind            text not null check (kind in ('REVERSAL', 'RULES')),
  -- The id of the transfer to take back, or the SHA-256 of the rules in hex.
  subject         text collate "C" not null check (length(subject) between 1 and 64),
  proposed_by     text not null check (proposed_by <> ''),
  proposed_sudo   text check (proposed_sudo <> ''),
  proposed_at     timestamptz not null,
  expires_at      timestamptz not null,
  confirmed_by    text check (confirmed_by <> ''),
  confirmed_sudo  text check (confirmed_sudo <> ''),
  confirmed_at    timestamptz,
  -- The transaction that confirmed it.
  confirmed_xid   xid8,
  primary key (institution_id, proposal_key),
  check (num_nonnulls(confirmed_by, confirmed_at, confirmed_xid) in (0, 3)),
  check (extract(epoch from expires_at - proposed_at) between 1 and 259200),
  check (confirmed_at < expires_at),
  constraint proposals_two_persons
    check (not share_a_person(array[proposed_by, proposed_sudo], array[confirmed_by, confirmed_sudo]))
);
create index proposals_by_subject on proposals (institution_id, kind, subject);

alter table proposals enable row level security;
alter table proposals force row level security;
create policy institution on proposals
  using (institution_id = (select current_setting('sharedraft.institution')::integer));
grant select on proposals to sharedraft_service;
grant insert (institution_id, kind, subject, proposed_by, proposed_sudo, proposed_at, expires_at) on proposals
  to sharedraft_service;
grant update (confirmed_by, confirmed_sudo, confirmed_at) on proposals to sharedraft_service;

create function check_confirmation() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if old.confirmed_at is not null or new.confirmed_at is null then
    raise exception 'proposals: a proposal is confirmed once' using errcode = 'SD050';
  end if;
  new.confirmed_xid := pg_current_xact_id();
  return new;
end
$$;

create trigger proposals_confirmed before update on proposals
  for each row execute function check_confirmation();

create function dual_control(institution integer) returns boolean
language sql stable set search_path = pg_catalog, public, pg_temp as $$
  select exists (
    select from transfer_policies p
    where p.institution_id = institution and p.second_approval_above is not null)
$$;

-- As before, and under dual control one of two persons who agreed orders it.
create or replace function check_reversal() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if not exists (
    select from transfers o
    where o.institution_id = new.institution_id and o.transfer_key = new.reverses_key and o.status = 'COMPLETED'
      and o.reverses_key is null
      and (o.amount, o.currency, o.from_key, o.to_key) = (new.amount, new.currency, new.to_key, new.from_key)
  ) then
    raise exception 'transfer % takes back something else', new.transfer_id using errcode = 'SD011';
  end if;
  if new.operator is null or num_nonnulls(new.client_id, new.user_key) > 0 then
    raise exception 'transfer % is a reversal by no operator', new.transfer_id using errcode = 'SD022';
  end if;
  if dual_control(new.institution_id) and not exists (
    select from transfers o
    join proposals p on p.institution_id = o.institution_id and p.kind = 'REVERSAL' and p.subject = o.transfer_id
    where o.institution_id = new.institution_id and o.transfer_key = new.reverses_key
      and p.confirmed_at is not null and p.expires_at > new.created_at
      and share_a_person(array[p.proposed_by, p.confirmed_by], array[new.operator])
  ) then
    raise exception 'transfer % is a reversal that no second person confirmed', new.transfer_id using errcode = 'SD051';
  end if;
  return null;
end
$$;

-- Looked at before each statement, so that no transaction first turns dual control off and then changes the rest.
create function check_rules_confirmed() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  institution constant integer := nullif(current_setting('sharedraft.institution', true), '');
begin
  if dual_control(institution) and not exists (
    select from proposals p
    where p.institution_id = institution and p.kind = 'RULES' and p.confirmed_xid = pg_current_xact_id()
  ) then
    raise exception 'rules: no second person has confirmed this change' using errcode = 'SD052';
  end if;
  return null;
end
$$;

create trigger transfer_policies_confirmed before insert or update or delete on transfer_policies
  for each statement execute function check_rules_confirmed();
create trigger transfer_limits_confirmed before insert or update or delete on transfer_limits
  for each statement execute function check_rules_confirmed();
create trigger business_days_confirmed before insert or update or delete on business_days
  for each statement execute function check_rules_confirmed();
create trigger contribution_limits_confirmed before insert or update or delete on contribution_limits
  for each statement execute function check_rules_confirmed();

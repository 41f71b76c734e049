-- The person behind each act on a transfer, and the request that an order came with.

-- Spellings that look alike become equal: compatibility forms, case, spaces, controls and invisible characters. Where the
-- database's locale is C, case is folded in ASCII alone; the service folds the rest.
create function fold_name(name text) returns text
language sql immutable set search_path = pg_catalog, public, pg_temp as $$
  select lower(regexp_replace(normalize(name, NFKC),
    '[\s[:cntrl:]\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB\U000E0000-\U000E0FFF]',
    '', 'g'))
$$;

-- Two acts that share a name are one person's.
create function share_a_person(one text[], other text[]) returns boolean
language sql immutable set search_path = pg_catalog, public, pg_temp as $$
  select exists (select from unnest(one) a join unnest(other) b on fold_name(a) = fold_name(b))
$$;

-- SUDO_USER of whoever approved. It never makes a second person, and shows that two system users are one.
alter table transfer_approvals add column sudo_user text check (sudo_user <> '');

create function check_second_person() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  -- Two approvals at once: the second waits here, and then sees the first.
  perform from pending_transfers p
  where p.institution_id = new.institution_id and p.transfer_key = new.transfer_key for no key update;
  if exists (
    select from transfer_approvals a
    where a.institution_id = new.institution_id and a.transfer_key = new.transfer_key
      and share_a_person(array[a.operator, a.sudo_user], array[new.operator, new.sudo_user])
  ) then
    raise exception 'transfers: one person approves twice' using errcode = 'SD021';
  end if;
  return new;
end
$$;

create trigger transfer_approvals_second_person before insert on transfer_approvals
  for each row execute function check_second_person();
drop index transfer_approvals_by_person;

alter table transfers
  -- An operator's order has no client.
  alter column client_id drop not null,
  add check (client_id is not null or operator is not null),
  -- Of the request or command that ordered it; older rows have none. The address is null for a command.
  add column address     inet,
  add column request_id  text collate "C" check (request_id ~ '^[!-~]{1,128}$');

-- As new_transfer, and the request. That one stays for processes of before.
create type ordered_transfer as (
  transfer_key                bigint,
  transfer_id                 text,
  transfer_type               text,
  from_account_id             text,
  to_account_id               text,
  from_key                    bigint,
  to_key                      bigint,
  amount                      bigint,
  currency                    text,
  status                      text,
  failure_code                text,
  failure_detail              text,
  client_id                   text,
  user_key                    bigint,
  payment_option              text,
  previous_year_contribution  boolean,
  reverses_key                bigint,
  operator                    text,
  address                     inet,
  request_id                  text
);

-- As before, and a reversal is the order of an operator alone.
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
  return null;
end
$$;

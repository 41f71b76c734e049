-- What a defect in the service could still have written, refused by the database as well: entries that change what is
-- held otherwise than their kind says or go back in time, a pending transfer ended without its money moving or brought
-- forward, a limit given back that nobody counted, a reversal of something else, an event out of its place in the feed.

-- Each entry beside the one before it, and each posting as a whole, in one pass: still two index probes a row.
create or replace function check_entries() returns trigger language plpgsql set enable_seqscan = off as $$
declare
  unbalanced boolean;
  broken boolean;
begin
  -- A posting's amounts sum to zero, and both its sides are in one currency, on accounts that exist and whose
  -- balance has come as far; what is held changes alike on both. Each entry goes on from the one before it, and is
  -- not older; holds change by the kind of the entry, and in one direction.
  select bool_or(x.unbalanced), bool_or(x.broken) into unbalanced, broken
  from (
    select sum(e.amount) <> 0 or count(*) % 2 <> 0 or count(e.currency) <> count(*)
             or min(e.currency) <> max(e.currency) or sum(e.held_out) <> sum(e.held_in) as unbalanced,
           bool_or(
             e.posted <> e.amount or not e.follows
             or not case e.kind
                  when 'TRANSFER' then
                    (e.held_out = 0 and e.held_in = 0)
                    or (e.held_out = least(e.amount, 0) and e.held_in = least(-e.amount, 0))
                  when 'HOLD' then e.held_out >= 0 and e.held_in >= 0 and (e.held_out > 0) <> (e.held_in > 0)
                  when 'RELEASE' then e.held_out <= 0 and e.held_in <= 0 and (e.held_out < 0) <> (e.held_in < 0)
                  else e.held_out = 0 and e.held_in = 0
                end) as broken
    from (
      select e.institution_id, e.posting_key, e.kind, e.amount, b.currency,
             e.posted_after - coalesce(p.posted_after, 0) as posted,
             e.held_out_after - coalesce(p.held_out_after, 0) as held_out,
             e.held_in_after - coalesce(p.held_in_after, 0) as held_in,
             case when e.seq = 1 then p.seq is null else coalesce(p.recorded_at <= e.recorded_at, false) end as follows
      from written e
      left join lateral (
        select b.currency from balances b
        where b.institution_id = e.institution_id and b.account_key = e.account_key and b.seq >= e.seq
        offset 0
      ) b on true
      left join lateral (
        select p.seq, p.posted_after, p.held_out_after, p.held_in_after, p.recorded_at from entries p
        where p.institution_id = e.institution_id and p.account_key = e.account_key and p.seq = e.seq - 1
        offset 0
      ) p on true
    ) e
    group by e.institution_id, e.posting_key
  ) x;
  if unbalanced then
    raise exception 'ledger: a posting does not balance' using errcode = 'SD001';
  end if;
  if broken then
    raise exception 'ledger: an entry does not go on from the one before' using errcode = 'SD002';
  end if;
  return null;
end
$$;

-- A pending transfer ends with its money: posted or released on both accounts, at the moment that it says.
create or replace function check_transfer_transition() returns trigger language plpgsql as $$
declare
  ends text := case new.status when 'COMPLETED' then 'TRANSFER' else 'RELEASE' end;
begin
  if old.status <> 'PENDING' then
    raise exception 'transfer % is final', old.transfer_id using errcode = 'SD005';
  end if;
  if new.status = 'COMPLETED' and not exists (
    select from pending_transfers p
    where p.institution_id = new.institution_id and p.transfer_key = new.transfer_key
      and ((p.when_due = 'POST' and p.due_at <= new.settled_at)
        or (p.held_for = 'REVIEW'
            and (p.not_before is null or p.not_before <= new.settled_at)
            and p.approvals_needed <= (
              select count(*) from transfer_approvals a
              where a.institution_id = p.institution_id and a.transfer_key = p.transfer_key)))
  ) then
    raise exception 'transfer % is neither due nor approved', old.transfer_id using errcode = 'SD007';
  end if;
  if new.status = 'PENDING' or exists (
    select from (values (new.from_key, -new.amount), (new.to_key, new.amount)) as side (account_key, amount)
    where not exists (
      select from entries e
      where e.institution_id = new.institution_id and e.account_key = side.account_key
        and e.posting_key = new.transfer_key and e.kind = ends and e.recorded_at = new.settled_at
        and e.amount = case ends when 'TRANSFER' then side.amount else 0 end
        and e.seq > (select b.seq - 2000 from balances b
                     where b.institution_id = new.institution_id and b.account_key = side.account_key))
  ) then
    raise exception 'transfer % ends without its money', old.transfer_id using errcode = 'SD009';
  end if;
  return new;
end
$$;

-- Its terms change in one way only: approved, it waits for its processing time and then posts.
create function check_terms() returns trigger language plpgsql as $$
begin
  if (new.when_due, new.due_at) is distinct from ('POST', old.not_before) or old.approvals_needed > (
    select count(*) from transfer_approvals a
    where a.institution_id = new.institution_id and a.transfer_key = new.transfer_key
  ) then
    raise exception 'transfers: only an approved one is put off until its time' using errcode = 'SD010';
  end if;
  return new;
end
$$;

create trigger pending_transfers_changed before update on pending_transfers
  for each row when ((new.due_at, new.when_due) is distinct from (old.due_at, old.when_due))
  execute function check_terms();

-- It waits for as long as it is PENDING.
create function check_pending_ended() returns trigger language plpgsql as $$
begin
  if exists (
    select from transfers t
    where t.institution_id = old.institution_id and t.transfer_key = old.transfer_key and t.status = 'PENDING'
  ) then
    raise exception 'transfers: a pending transfer would wait for nothing' using errcode = 'SD010';
  end if;
  return null;
end
$$;

create trigger pending_transfers_ended after delete on pending_transfers
  for each row execute function check_pending_ended();

-- And what is PENDING waits for something; checked at the end of the transaction, when its terms are written.
create function check_pending_waits() returns trigger language plpgsql as $$
begin
  if not exists (
    select from pending_transfers p
    where p.institution_id = new.institution_id and p.transfer_key = new.transfer_key
  ) and exists (
    select from transfers t
    where t.institution_id = new.institution_id and t.transfer_key = new.transfer_key and t.status = 'PENDING'
  ) then
    raise exception 'transfers: a pending transfer would wait for nothing' using errcode = 'SD010';
  end if;
  return null;
end
$$;

create constraint trigger transfers_waiting after insert on transfers
  deferrable initially deferred
  for each row when (new.status = 'PENDING') execute function check_pending_waits();

-- What is released was held for a transfer that has failed; looked for when that is written.
create function check_release() returns trigger language plpgsql as $$
begin
  if not exists (
    select from transfers t
    where t.institution_id = new.institution_id and t.transfer_key = new.posting_key and t.status = 'FAILED'
      and new.account_key in (t.from_key, t.to_key)
  ) then
    raise exception 'ledger: what is held is released for no transfer that failed' using errcode = 'SD015';
  end if;
  return null;
end
$$;

create constraint trigger entries_released after insert on entries
  deferrable initially deferred
  for each row when (new.kind = 'RELEASE') execute function check_release();

-- A reversal takes back one completed transfer, the whole of it, the other way.
create function check_reversal() returns trigger language plpgsql as $$
begin
  if not exists (
    select from transfers o
    where o.institution_id = new.institution_id and o.transfer_key = new.reverses_key and o.status = 'COMPLETED'
      and o.reverses_key is null
      and (o.amount, o.currency, o.from_key, o.to_key) = (new.amount, new.currency, new.to_key, new.from_key)
  ) then
    raise exception 'transfer % takes back something else', new.transfer_id using errcode = 'SD011';
  end if;
  return null;
end
$$;

create trigger transfers_reversing after insert on transfers
  for each row when (new.reverses_key is not null) execute function check_reversal();

-- ---------------------------------------------------------------------------------------------------------
-- What was counted under a limit is given back by transfers that failed or were reversed, and by nothing else.

create index limit_uses_by_counter on limit_uses (institution_id, limit_key, subject_key, period_start);

create function given_back(institution integer, transfer bigint, key integer) returns boolean
language sql stable as $$
  select exists (
      select from transfers t
      where t.institution_id = institution and t.transfer_key = transfer and t.status = 'FAILED')
    or key = 0 and exists (
      select from transfers r
      where r.institution_id = institution and r.reverses_key = transfer and r.reverses_key is not null
        and r.status <> 'FAILED')
$$;

create function check_counter_lowered() returns trigger language plpgsql as $$
begin
  if exists (
    select from (
      select coalesce(sum(u.amount), 0) as amount, count(*) as transfers
      from limit_uses u
      where u.institution_id = old.institution_id and u.limit_key = old.limit_key
        and u.subject_key = old.subject_key and u.period_start = old.period_start
        and given_back(u.institution_id, u.transfer_key, u.limit_key)
    ) back
    where old.amount - new.amount > back.amount or old.transfers - new.transfers > back.transfers
  ) then
    raise exception 'limits: a counter is lowered by what nobody gave back' using errcode = 'SD012';
  end if;
  return new;
end
$$;

create trigger limit_counters_lowered before update on limit_counters
  for each row when (new.amount < old.amount or new.transfers < old.transfers)
  execute function check_counter_lowered();

create function check_limit_use() returns trigger language plpgsql as $$
begin
  if not exists (
    select from transfers t
    where t.institution_id = new.institution_id and t.transfer_key = new.transfer_key and t.amount = new.amount
      and (t.status = 'PENDING' or (new.limit_key = 0 and t.status = 'COMPLETED'))
  ) then
    raise exception 'limits: what counts is no such transfer' using errcode = 'SD013';
  end if;
  return null;
end
$$;

create trigger limit_uses_written after insert on limit_uses
  for each row execute function check_limit_use();

-- Posted, a transfer has counted for good: only a contribution to an IRA can still be given back.
create function check_limit_use_dropped() returns trigger language plpgsql as $$
begin
  if not given_back(old.institution_id, old.transfer_key, old.limit_key) and not exists (
    select from transfers t
    where t.institution_id = old.institution_id and t.transfer_key = old.transfer_key and t.status = 'COMPLETED'
      and old.limit_key <> 0
  ) then
    raise exception 'limits: what still counts was dropped' using errcode = 'SD013';
  end if;
  return null;
end
$$;

create trigger limit_uses_dropped after delete on limit_uses
  for each row execute function check_limit_use_dropped();

-- ---------------------------------------------------------------------------------------------------------
-- An event's place in the feed is the database's to say; its secret can only be wiped.

revoke insert on outbox from sharedraft_service;
grant insert (institution_id, epoch, kind, subject_key, from_key, from_seq, to_key, to_seq, data, secret,
              secret_expires_at, recorded_at) on outbox to sharedraft_service;

create function check_secret_wiped() returns trigger language plpgsql as $$
begin
  if num_nonnulls(new.secret, new.secret_expires_at) > 0 then
    raise exception 'events: a secret can only be wiped' using errcode = 'SD014';
  end if;
  return new;
end
$$;

create trigger outbox_wiped before update on outbox
  for each row execute function check_secret_wiped();

-- What is posted or held and what was ordered are one: no posting without its transfer, no transfer without its posting.
-- Which of the two a transaction writes first is its own affair, so they are held against each other when it commits,
-- by a control total: entries add a number made of what they do, transfers take off the number of what they order.

create function control_number(kind text, posting bigint, account bigint, amount bigint) returns bigint
language sql immutable as $$
  select hashint8extended(posting, hashint8extended(account, hashint8extended(amount, case kind when 'HOLD' then 1 else 0 end)))
$$;

-- Kept by the transaction: gone with it, and put back by a savepoint that is rolled back to.
create function add_to_control_total(change numeric) returns void language plpgsql as $$
begin
  perform set_config(
    'sharedraft.control_total',
    (coalesce(nullif(current_setting('sharedraft.control_total', true), '')::numeric, 0) + coalesce(change, 0))::text, true);
end
$$;

-- As before, and each entry that a transfer orders is added to the control total.
create or replace function check_entries() returns trigger language plpgsql set enable_seqscan = off as $$
declare
  unbalanced boolean;
  broken boolean;
  control numeric;
begin
  -- A posting's amounts sum to zero, and both its sides are in one currency, on accounts that exist and whose
  -- balance has come as far; what is held changes alike on both. Each entry goes on from the one before it, and is
  -- not older; holds change by the kind of the entry, and in one direction.
  select bool_or(x.unbalanced), bool_or(x.broken), sum(x.control) into unbalanced, broken, control
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
                end) as broken,
           sum(case e.kind
                 when 'TRANSFER' then control_number(e.kind, e.posting_key, e.account_key, e.amount)
                 when 'HOLD' then control_number(e.kind, e.posting_key, e.account_key, e.held_in - e.held_out)
               end) as control
    from (
      select e.institution_id, e.account_key, e.posting_key, e.kind, e.amount, b.currency,
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
  perform add_to_control_total(control);
  return null;
end
$$;

-- A transfer orders an entry on each of its accounts: to hold when it becomes PENDING, to post when it becomes COMPLETED.
create function take_off_control_total() returns trigger language plpgsql as $$
begin
  perform add_to_control_total(-sum(
    control_number(case t.status when 'PENDING' then 'HOLD' else 'TRANSFER' end, t.transfer_key, t.from_key, -t.amount)::numeric
    + control_number(case t.status when 'PENDING' then 'HOLD' else 'TRANSFER' end, t.transfer_key, t.to_key, t.amount)))
  from written t where t.status <> 'FAILED';
  return null;
end
$$;

create trigger transfers_ordered after insert on transfers
  referencing new table as written
  for each statement execute function take_off_control_total();

create trigger transfers_posted after update on transfers
  referencing new table as written
  for each statement execute function take_off_control_total();

create function check_control_total() returns trigger language plpgsql as $$
begin
  if current_setting('sharedraft.control_total') <> '0' then
    raise exception 'ledger: what is posted and what was ordered differ' using errcode = 'SD017';
  end if;
  return null;
end
$$;

-- A posting has a side that pays; one look a transfer is enough, though each looks at the same.
create constraint trigger entries_without_transfer after insert on entries
  deferrable initially deferred
  for each row when (new.amount <= 0) execute function check_control_total();

-- Entries written before are looked at anyway.
create constraint trigger transfers_without_entries after insert on transfers
  deferrable initially deferred
  for each row when (
    new.status <> 'FAILED' and coalesce(current_setting('sharedraft.control_total', true), '') in ('', '0'))
  execute function check_control_total();

-- Instructions: the part of each transfer that an institution's core must do, for institutions whose core keeps the books (ADR 35).

alter table pending_transfers
  drop constraint pending_transfers_held_for_check,
  drop constraint pending_transfers_cut_off,
  add constraint pending_transfers_held_for_check check (held_for in ('REVIEW', 'CUT_OFF', 'CORE')),
  add constraint pending_transfers_cut_off check (held_for <> 'CUT_OFF' or (approvals_needed = 0 and when_due = 'POST')),
  add constraint pending_transfers_core check (held_for <> 'CORE' or when_due = 'EXPIRE');

drop trigger pending_transfers_changed on pending_transfers;
create trigger pending_transfers_changed before update on pending_transfers
  for each row when ((new.held_for, new.due_at, new.when_due) is distinct from (old.held_for, old.due_at, old.when_due))
  execute function check_pending_terms();

comment on column pending_transfers.held_for is
  'REVIEW: approvals by operators. CUT_OFF: the next business day. CORE: the outcome of its instruction.';

grant update (held_for) on pending_transfers to sharedraft_service;

alter table transfer_policies
  add column core_policy text not null default 'WAIT' check (core_policy in ('WAIT', 'MEMO')),
  add column memo_up_to bigint check (memo_up_to >= 0),
  add column core_wait_seconds integer not null default 86400 check (core_wait_seconds between 1 and 2592000),
  add column stand_in text not null default 'WAIT' check (stand_in in ('WAIT', 'DECLINE')),
  add constraint transfer_policies_memo check (memo_up_to is null or core_policy = 'MEMO');

comment on column transfer_policies.core_policy is
  'WAIT: a transfer completes when the core accepts it. MEMO: within one membership it completes at once.';
comment on column transfer_policies.memo_up_to is 'A larger transfer waits. Null: MEMO counts for any amount.';
comment on column transfer_policies.core_wait_seconds is 'A transfer that was not delivered to the core in this time fails.';
comment on column transfer_policies.stand_in is 'Outcome of an order above the stand-in limits while the core is away.';

alter table transfer_limits
  drop constraint transfer_limits_subject_check,
  add constraint transfer_limits_subject_check
    check (subject in ('USER', 'CUSTOMER', 'ACCOUNT', 'STAND_IN', 'STAND_IN_ACCOUNT')),
  add constraint transfer_limits_stand_in check (subject not like 'STAND_IN%' or (period = 'DAY' and review_above is null));

comment on column transfer_limits.subject is
  'Transfers that count together. STAND_IN: those of the institution that complete while its core is away; STAND_IN_ACCOUNT: those from one account.';

create table core_instructions (
  institution_id    integer not null,
  instruction_key   bigint not null,
  sequence          bigint not null generated always as identity,
  mode              text not null check (mode in ('WAIT', 'MEMO', 'STAND_IN')),
  state             text not null check (state in ('OPEN', 'ACCEPTED', 'REJECTED', 'WITHDRAWN')),
  business_date     date not null,
  from_key          bigint not null,
  to_key            bigint not null,
  amount            bigint not null check (amount > 0),
  currency          text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  issued_at         timestamptz not null,

  delivered_at      timestamptz,
  leased_by         text collate "C",
  lease_until       timestamptz,
  file_number       integer check (file_number > 0),

  decided_at        timestamptz,
  core_reference    text collate "C" check (core_reference ~ '^[!-~]{1,64}$'),
  refusal_code      text collate "C" check (refusal_code ~ '^[A-Za-z0-9._-]{1,64}$'),
  refusal_reason    text check (length(refusal_reason) between 1 and 140),
  decided_by        text collate "C",
  decided_operator  text check (decided_operator <> ''),
  decided_request   text collate "C" check (decided_request ~ '^[!-~]{1,128}$'),

  primary key (institution_id, instruction_key),
  constraint core_instructions_lease check (num_nonnulls(leased_by, lease_until) in (0, 2)),
  constraint core_instructions_delivered check (delivered_at is not null or num_nonnulls(leased_by, file_number) = 0),
  constraint core_instructions_decided check ((state = 'OPEN') = (decided_at is null)),
  constraint core_instructions_withdrawn check (state <> 'WITHDRAWN' or (mode = 'WAIT' and delivered_at is null)),
  constraint core_instructions_outcome check (
    case state when 'ACCEPTED' then num_nonnulls(refusal_code, refusal_reason) = 0
               when 'REJECTED' then refusal_code is not null and core_reference is null
               else num_nonnulls(core_reference, refusal_code, refusal_reason, decided_by, decided_operator) = 0 end),
  constraint core_instructions_decided_by check
    (state not in ('ACCEPTED', 'REJECTED') or num_nonnulls(decided_by, decided_operator) > 0)
) with (fillfactor = 80);
create index core_instructions_open on core_instructions (institution_id, sequence) where state = 'OPEN';
create index core_instructions_undelivered on core_instructions (institution_id, sequence)
  where state = 'OPEN' and delivered_at is null;
create index core_instructions_by_file on core_instructions (institution_id, file_number, sequence)
  where file_number is not null;

create index core_instructions_stand_in on core_instructions (institution_id, issued_at) where mode = 'STAND_IN';

create constraint trigger core_instructions_issued after insert on core_instructions deferrable initially deferred
  for each row execute function check_instruction();
create constraint trigger core_instructions_followed after update on core_instructions deferrable initially deferred
  for each row when (new.state <> old.state) execute function check_instruction();
create trigger core_instructions_final before update on core_instructions
  for each row execute function check_instruction_change();
create trigger transfers_instructed after insert on transfers referencing new table as written
  for each statement execute function check_transfers_instructed();

comment on table core_instructions is
  'One for each transfer that a core must carry out, written in the commit that holds or moves its money. Its key is the transfer''s.';
comment on column core_instructions.sequence is
  'Order of delivery. Both accounts are locked when it is given, so the instructions of an account follow its entries.';
comment on column core_instructions.mode is
  'WAIT: the transfer completes when the core accepts. MEMO, STAND_IN: it is complete, and a refusal reverses it.';
comment on column core_instructions.delivered_at is 'First lease or export. From then on the core may have carried it out.';
comment on column core_instructions.leased_by is 'The client that works on it until lease_until.';
comment on column core_instructions.file_number is 'The export file that contains it.';
comment on column core_instructions.decided_by is 'The client that reported the outcome; decided_operator for a file.';

-- A row as a batch sends it.
create type new_instruction as (
  instruction_key  bigint,
  mode             text,
  state            text,
  business_date    date,
  from_key         bigint,
  to_key           bigint,
  amount           bigint,
  currency         text
);

select bind_to_institution('core_instructions');

grant select, insert on core_instructions to sharedraft_service;
grant update (state, delivered_at, leased_by, lease_until, file_number, decided_at, core_reference, refusal_code, refusal_reason,
              decided_by, decided_operator, decided_request) on core_instructions to sharedraft_service;

create table core_connections (
  institution_id  integer not null,
  heard_at        timestamptz not null,
  heard_client    text collate "C" not null,
  primary key (institution_id)
);

comment on table core_connections is 'The last sign of life from the core of each institution. Its row also lets one connector at a time lease.';
comment on column core_connections.heard_at is 'By the clock of the service, at most a second old while requests arrive.';
comment on column core_connections.heard_client is 'The client that called.';

select bind_to_institution('core_connections');

grant select, insert on core_connections to sharedraft_service;
grant update (heard_at, heard_client) on core_connections to sharedraft_service;

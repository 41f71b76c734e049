-- Transfers: the order, the wait of a pending one, its approvals, and the ids that are taken.

create table transfers (
  institution_id              integer not null,
  transfer_key                bigint not null,
  -- The length is a check of its own: matching a bounded repetition takes longer with each character.
  transfer_id                 text collate "C" not null
                              check (length(transfer_id) <= 64 and transfer_id ~ '^[A-Za-z0-9][A-Za-z0-9._:-]*$'),
  transfer_type               text check (transfer_type in
                                ('STANDARD', 'CROSS_MEMBER', 'IRA_CONTRIBUTION', 'LOAN_PAYMENT', 'INTRA_FI')),
  from_account_id             text collate "C" not null,
  to_account_id               text collate "C" not null,
  from_key                    bigint,
  to_key                      bigint,
  amount                      bigint not null check (amount > 0),
  currency                    text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  status                      text not null check (status in ('PENDING', 'COMPLETED', 'FAILED')),
  failure_code                text,
  failure_detail              text,
  exceeded_limit              jsonb,
  payment_option              text check
                                (payment_option in ('DEFAULT', 'PRINCIPAL_ONLY', 'INTEREST_ONLY', 'EXCESS_TO_PRINCIPAL')),
  previous_year_contribution  boolean,
  -- readable-text.ts refuses more; these characters are invisible or change how other text looks.
  memo                        text check (
                                length(memo) <= 140 and memo ~ '\S'
                                and memo !~ '[[:cntrl:]\u00AD\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]'),
  reverses_key                bigint,

  client_id                   text collate "C",
  user_key                    bigint,
  operator                    text check (operator <> ''),
  address                     inet,
  request_id                  text collate "C" check (request_id ~ '^[!-~]{1,128}$'),
  created_at                  timestamptz not null,
  settled_at                  timestamptz,

  -- Status and type in one small number: an index leads to each combination in order of time, and a list merges those it
  -- needs (ADR 6).
  list_class                  smallint not null generated always as (
                                case status when 'PENDING' then 0 when 'COMPLETED' then 10 else 20 end
                                + case transfer_type
                                    when 'STANDARD' then 1 when 'CROSS_MEMBER' then 2 when 'IRA_CONTRIBUTION' then 3
                                    when 'LOAN_PAYMENT' then 4 when 'INTRA_FI' then 5 else 0 end) stored,

  primary key (institution_id, transfer_key),
  constraint transfers_ordered_by check (client_id is not null or operator is not null),
  constraint transfers_source check (from_key is not null),
  constraint transfers_resolved check
    (status = 'FAILED' or (from_key is not null and to_key is not null and from_key <> to_key
                           and transfer_type is not null)),
  constraint transfers_settled check ((status = 'PENDING') = (settled_at is null)),
  constraint transfers_failure check ((status = 'FAILED') = (failure_code is not null)),
  constraint transfers_failure_detail check ((failure_code is null) = (failure_detail is null)),
  constraint transfers_exceeded_limit check (exceeded_limit is null or failure_code = 'limit_exceeded')
);

-- A client lists the institution's transfers; a member those they ordered and those that leave their accounts; an account
-- those that leave it and those that reach it. Without statistics, the list of one account could be planned on the first
-- index at the same cost. Its condition, true of every transfer, keeps that index to statements that repeat it.
create index transfers_listed on transfers (institution_id, list_class, created_at, transfer_key)
  where transfer_key > 0;
create index transfers_by_user on transfers (institution_id, user_key, list_class, created_at, transfer_key)
  where user_key is not null;
create index transfers_by_source on transfers (institution_id, from_key, list_class, created_at, transfer_key)
  where from_key is not null;
create index transfers_by_destination on transfers (institution_id, to_key, list_class, created_at, transfer_key)
  where to_key is not null;
create unique index transfers_reversed_once on transfers (institution_id, reverses_key)
  where reverses_key is not null and status <> 'FAILED';

create trigger transfers_final before update on transfers
  for each row execute function check_transfer_transition();
create trigger transfers_reserved after insert on transfers referencing new table as written
  for each statement execute function check_transfer_id_reserved();
create trigger transfers_ordered after insert on transfers referencing new table as written
  for each statement execute function subtract_from_control_total();
create trigger transfers_posted after update on transfers referencing new table as written
  for each statement execute function subtract_from_control_total();
create constraint trigger transfers_waiting after insert on transfers deferrable initially deferred
  for each row when (new.status = 'PENDING') execute function check_pending_transfer_exists();
-- At commit: a batch may post a transfer and reverse it.
create constraint trigger transfers_reversing after insert on transfers deferrable initially deferred
  for each row when (new.reverses_key is not null) execute function check_reversal();

comment on table transfers is 'Every transfer that was ordered, declined ones included. A final row never changes.';
comment on column transfers.transfer_id is 'Id given by the caller or derived from its idempotency key.';
comment on column transfers.from_account_id is 'As ordered.';
comment on column transfers.to_account_id is 'As ordered; a declined transfer may name an account that does not exist.';
comment on column transfers.failure_detail is 'The sentence in the first response; a repeated order gets the same.';
comment on column transfers.exceeded_limit is 'The limit in the first response; a repeated order gets the same.';
comment on column transfers.previous_year_contribution is 'An IRA contribution for the tax year before.';
comment on column transfers.reverses_key is 'The completed transfer that this one reverses.';
comment on column transfers.client_id is 'The client that ordered it. Null: an operator did.';
comment on column transfers.user_key is 'The member who ordered it, if the token was a member''s.';
comment on column transfers.operator is 'The operator of the last act: an approval, a decline or a reversal.';
comment on column transfers.address is 'Address of the request that ordered it. Null for a command.';
comment on column transfers.request_id is 'Id of the request or command that ordered it.';
comment on column transfers.settled_at is 'Moment at which the transfer became final.';
comment on column transfers.list_class is 'PENDING 0, COMPLETED 10, FAILED 20, plus 1 to 5 for the type; 0 if declined before its type was known.';

create table idempotency_keys (
  institution_id  integer not null,
  transfer_id     text collate "C" not null,
  transfer_key    bigint not null,
  primary key (institution_id, transfer_id)
);

comment on table idempotency_keys is
  'Every transfer id ever used, once. Apart from transfers, so that those can be partitioned by time.';

create table pending_transfers (
  institution_id    integer not null,
  transfer_key      bigint not null,
  held_for          text not null check (held_for in ('REVIEW', 'CUT_OFF')),
  due_at            timestamptz not null,
  when_due          text not null check (when_due in ('POST', 'EXPIRE')),
  approvals_needed  smallint not null check (approvals_needed between 0 and 2),
  not_before        timestamptz,
  primary key (institution_id, transfer_key),
  constraint pending_transfers_cut_off check (held_for = 'REVIEW' or (approvals_needed = 0 and when_due = 'POST')),
  constraint pending_transfers_not_before check (when_due = 'EXPIRE' or not_before is null or due_at >= not_before)
);
create index pending_transfers_due on pending_transfers (institution_id, due_at);

create trigger pending_transfers_written after insert on pending_transfers referencing new table as written
  for each statement execute function check_pending_transfers();
create trigger pending_transfers_changed before update on pending_transfers
  for each row when ((new.due_at, new.when_due) is distinct from (old.due_at, old.when_due))
  execute function check_pending_terms();
create trigger pending_transfers_ended after delete on pending_transfers
  for each row execute function check_pending_transfer_removed();

comment on table pending_transfers is 'The terms of each PENDING transfer. The row is deleted when the transfer is final.';
comment on column pending_transfers.held_for is 'REVIEW: approvals by operators. CUT_OFF: the next business day.';
comment on column pending_transfers.when_due is 'Outcome if nothing happens until due_at.';
comment on column pending_transfers.not_before is 'An approved transfer posts at this time at the earliest.';

create table transfer_approvals (
  institution_id  integer not null,
  transfer_key    bigint not null,
  operator        text not null check (operator <> ''),
  approved_at     timestamptz not null,
  sudo_user       text check (sudo_user <> ''),
  primary key (institution_id, transfer_key, operator)
);

create trigger transfer_approvals_distinct_persons before insert on transfer_approvals
  for each row execute function check_approval_by_another_person();

comment on table transfer_approvals is 'Approvals of transfers under review, one a person.';
comment on column transfer_approvals.sudo_user is
  'SUDO_USER of the approver. It shows that two system users are one person, and never that they are two.';

create table transfer_id_prefixes (
  institution_id  integer not null,
  -- Contains a character that no id made by the service has: such an id is a UUID or begins with "key:".
  prefix          text collate "C" not null check (
                    prefix ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{1,31}$' and prefix ~ '[^0-9a-f-]'
                    and not starts_with(prefix, 'key:') and not starts_with('key:', prefix)),
  client_id       text collate "C" not null,
  primary key (institution_id, prefix),
  foreign key (institution_id, client_id) references clients (institution_id, client_id)
);
create index transfer_id_prefixes_by_client on transfer_id_prefixes (institution_id, client_id);

create trigger transfer_id_prefixes_apart before insert on transfer_id_prefixes
  for each row execute function check_transfer_id_prefix();

comment on table transfer_id_prefixes is
  'Prefixes of transfer ids reserved for one client. Transfer ids are one namespace in an institution (ADR 19).';

-- A row as a batch sends it.
create type new_transfer as (
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
  request_id                  text,
  memo                        text,
  exceeded_limit              jsonb
);

select bind_to_institution('transfers', 'idempotency_keys', 'pending_transfers', 'transfer_approvals', 'transfer_id_prefixes');

grant select, insert on transfers, idempotency_keys, pending_transfers, transfer_approvals, transfer_id_prefixes to sharedraft_service;
grant update (status, failure_code, failure_detail, operator, settled_at) on transfers to sharedraft_service;
grant update (due_at, when_due), delete on pending_transfers to sharedraft_service;
grant delete on transfer_id_prefixes to sharedraft_service;

-- Differences between the core's books and these (ADR 45).

create table core_breaks (
  institution_id  integer not null,
  break_key       bigint not null generated always as identity,
  class           text not null check (class in (
                    'MISSING_HERE', 'MISSING_THERE', 'AMOUNT', 'DUPLICATE', 'TIMING', 'UNKNOWN_ACCOUNT', 'AMOUNT_MISMATCH',
                    'BELOW_FLOOR', 'REVERSAL_REJECTED')),
  subject         text collate "C" not null check (length(subject) between 1 and 200),
  account_id      text collate "C" not null check (length(account_id) between 1 and 64),
  account_key     bigint,
  account_seq     bigint,
  core_id         text collate "C",
  transfer_key    bigint,
  currency        text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  difference      bigint not null,
  as_of           timestamptz,
  owner           text check (length(owner) between 1 and 128),
  opened_at       timestamptz not null,
  closed_at       timestamptz,
  closed_by       text check (closed_by in ('ARRIVED', 'AGREED', 'DECIDED', 'RECOVERED', 'ADJUSTED')),
  primary key (institution_id, break_key),
  constraint core_breaks_closed check (num_nonnulls(closed_at, closed_by) in (0, 2))
);
create unique index core_breaks_open on core_breaks (institution_id, subject) where closed_at is null;
create index core_breaks_subject on core_breaks (institution_id, subject);
create index core_breaks_open_account on core_breaks (institution_id, account_id) where closed_at is null;
create index core_breaks_open_keys on core_breaks (institution_id, break_key) where closed_at is null;

create trigger core_breaks_closed_for_good before update on core_breaks
  for each row when (old.closed_at is not null) execute function refuse_change_of_closed_break();

comment on table core_breaks is
  'Differences between the core''s books and these. A closed one never changes; the same difference later is a new one.';
comment on column core_breaks.subject is
  'The thing that differs: account:ID, posting:ID of the core, instruction:ID, echo:ID, reversal:ID or floor:ID. Open once at most.';
comment on column core_breaks.account_id is 'The account, by the id that the core knows. UNKNOWN_ACCOUNT: no account of this institution.';
comment on column core_breaks.account_seq is 'The newest entry of the account when it was compared.';
comment on column core_breaks.difference is 'The core''s amount minus the one here; 0 if no amount differs.';
comment on column core_breaks.as_of is 'The moment of the balances that were compared. Null: found without a comparison.';
comment on column core_breaks.owner is 'The person who looks after it, by name.';

create table core_break_notes (
  institution_id  integer not null,
  note_key        bigint not null generated always as identity,
  break_key       bigint not null,
  noted_at        timestamptz not null,
  author          text check (length(author) between 1 and 256),
  note            text not null check (
                    length(note) between 1 and 1000
                    and note !~ '[[:cntrl:]\u00AD\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]'),
  primary key (institution_id, break_key, note_key),
  foreign key (institution_id, break_key) references core_breaks
);

comment on table core_break_notes is 'The story of each break. Insert-only.';
comment on column core_break_notes.author is 'The client or the operator. Null: the service.';

create table core_comparisons (
  institution_id  integer not null,
  as_of           timestamptz not null,
  compared_at     timestamptz not null,
  accounts        integer not null check (accounts >= 0),
  in_flight       integer not null check (in_flight >= 0),
  differing       integer not null check (differing >= 0),
  primary key (institution_id, as_of)
);

comment on table core_comparisons is 'The comparisons of the core''s balances with these; the last one of each moment.';
comment on column core_comparisons.in_flight is 'Accounts whose difference is that of instructions under way.';
comment on column core_comparisons.differing is 'Accounts whose difference is a break.';

-- The lines of a delivery until they are compared. A crash empties them, and the delivery is sent again.
create unlogged table staged_core_balances (
  institution_id  integer not null,
  delivery        uuid not null,
  account_id      text collate "C" not null,
  currency        text collate "C" not null,
  balance         bigint not null,
  staged_at       timestamptz not null,
  primary key (institution_id, delivery, account_id)
);
create unlogged table staged_core_postings (
  institution_id  integer not null,
  delivery        uuid not null,
  core_id         text collate "C" not null,
  account_id      text collate "C" not null,
  currency        text collate "C" not null,
  amount          bigint not null,
  staged_at       timestamptz not null,
  primary key (institution_id, delivery, core_id)
);

comment on table staged_core_balances is 'Balances that the core stated, until they are compared.';
comment on table staged_core_postings is 'The core''s list of its postings, until it is compared.';

-- Transactions arrive in the order of recorded_at, so a block range has a narrow span of it and costs the intake nearly nothing.
create index core_transactions_recorded on core_transactions using brin (institution_id, recorded_at) with (pages_per_range = 32);
create index core_instructions_by_decision on core_instructions (institution_id, decided_at)
  where state in ('ACCEPTED', 'REJECTED');

select bind_to_institution('core_breaks', 'core_break_notes', 'core_comparisons', 'staged_core_balances',
                           'staged_core_postings');

grant select on core_breaks, core_break_notes, core_comparisons to sharedraft_service;
grant insert (institution_id, class, subject, account_id, account_key, account_seq, core_id, transfer_key, currency, difference,
              as_of, opened_at) on core_breaks to sharedraft_service;
grant update (class, account_seq, difference, as_of, owner, closed_at, closed_by) on core_breaks to sharedraft_service;
grant insert (institution_id, break_key, noted_at, author, note) on core_break_notes to sharedraft_service;
grant insert, update (compared_at, accounts, in_flight, differing) on core_comparisons to sharedraft_service;
grant select, insert, delete on staged_core_balances, staged_core_postings to sharedraft_service;

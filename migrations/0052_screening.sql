-- Screening: a service of the institution that judges an order before it is decided, and its verdicts.

create table screening_hooks (
  institution_id   integer primary key references institutions,
  url              text not null check (url ~ '^https?://[!-~]+$' and length(url) <= 2048),
  from_amount      bigint not null check (from_amount >= 0),
  timeout_millis   integer not null check (timeout_millis between 50 and 5000),
  on_silence       text not null check (on_silence in ('APPROVE', 'HOLD', 'DECLINE')),
  hold_seconds     integer not null check (hold_seconds between 60 and 2592000),
  sealed_secret    bytea not null,
  sealed_previous  bytea,
  previous_until   timestamptz,
  binds_from       timestamptz not null default now() + interval '30 seconds',
  constraint screening_hooks_previous check ((sealed_previous is null) = (previous_until is null))
);
comment on table screening_hooks is 'The address at which an institution screens orders for fraud, at most one for each institution.';
comment on column screening_hooks.from_amount is 'Orders from this amount on are screened, in minor units of the institution''s currency. Orders in another currency always are.';
comment on column screening_hooks.timeout_millis is 'The time that the hook has for its answer.';
comment on column screening_hooks.on_silence is 'The verdict on an order that got no answer.';
comment on column screening_hooks.hold_seconds is 'An order that is held for review by its verdict expires after this time.';
comment on column screening_hooks.sealed_secret is 'The secret that signs the requests, under the key of SECRET_KEY.';
comment on column screening_hooks.sealed_previous is 'The secret before, which signs as well until previous_until.';
comment on column screening_hooks.binds_from is 'From this time on the database refuses money that moves without a verdict. Processes learn of a change within a second.';

create table transfer_screenings (
  institution_id  integer not null,
  transfer_key    bigint not null,
  verdict         text not null check (verdict in ('APPROVE', 'HOLD', 'DECLINE')),
  answer          text not null check (answer in ('ANSWERED', 'SILENT', 'NOT_ASKED')),
  reference       text check (reference ~ '^[ -~]{1,100}$'),
  asked_millis    integer check (asked_millis >= 0),
  primary key (institution_id, transfer_key),
  foreign key (institution_id, transfer_key) references transfers deferrable initially deferred,
  constraint transfer_screenings_answered check (answer = 'ANSWERED' or reference is null),
  constraint transfer_screenings_asked check ((answer = 'NOT_ASKED') = (asked_millis is null))
);
comment on table transfer_screenings is 'The verdict of screening on an order, which is never changed.';
comment on column transfer_screenings.answer is 'SILENT: asked, and no valid answer came in time. NOT_ASKED: the order had no verdict when it was decided, for instance because the setting is newer.';
comment on column transfer_screenings.reference is 'The case number that the hook gave.';

select bind_to_institution('screening_hooks');
select bind_to_institution('transfer_screenings');

grant select, insert, update, delete on screening_hooks to sharedraft_service;
grant select, insert on transfer_screenings to sharedraft_service;

create trigger transfers_screened after insert on transfers
  referencing new table as written for each statement execute function check_transfers_screened();
create trigger pending_transfers_screened after insert on pending_transfers
  referencing new table as written for each statement execute function check_holds_screened();

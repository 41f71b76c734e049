-- Step-up: a transfer above an amount, or to a new destination, needs a recent sign-in (RFC 9470).

alter table institutions
  add column transfer_step_up_max_age integer not null default 0 check (transfer_step_up_max_age between 0 and 2592000),
  add column transfer_step_up_above bigint not null default 0 check (transfer_step_up_above >= 0),
  add column transfer_step_up_new_destination boolean not null default false,
  add column transfer_step_up_passkey boolean not null default false,
  add column transfer_step_up_from timestamptz;
comment on column institutions.transfer_step_up_max_age is
  'The most seconds since a member''s sign-in for a transfer that needs a recent one; 0: none needs one.';
comment on column institutions.transfer_step_up_above is
  'Transfers above this amount need a recent sign-in, in minor units of the institution''s currency. Transfers in another currency always do.';
comment on column institutions.transfer_step_up_new_destination is
  'So does a transfer of any amount to an account that the membership has not paid in 400 days.';
comment on column institutions.transfer_step_up_passkey is 'The recent sign-in must be one with a passkey.';
comment on column institutions.transfer_step_up_from is
  'From this time on the database refuses transfers without a recent sign-in. Processes learn of a change within a second.';
grant update (transfer_step_up_max_age, transfer_step_up_above, transfer_step_up_new_destination, transfer_step_up_passkey,
              transfer_step_up_from) on institutions to sharedraft_service;

alter table refresh_families
  add column acr text,
  add constraint refresh_families_acr_check check (acr ~ '^phr$') not valid;
comment on column refresh_families.acr is 'phr: the member signed in with a passkey. Null: with a password, or before this column.';

create table transfer_sign_ins (
  institution_id  integer not null,
  transfer_key    bigint not null,
  signed_in_at    timestamptz not null,
  acr             text check (acr ~ '^phr$'),
  checked_at      timestamptz not null,
  primary key (institution_id, transfer_key),
  foreign key (institution_id, transfer_key) references transfers deferrable initially deferred
);
comment on table transfer_sign_ins is 'The sign-in behind a member''s order, at institutions where some transfers need a recent one.';
comment on column transfer_sign_ins.acr is 'phr: with a passkey.';
comment on column transfer_sign_ins.checked_at is 'The clock''s time when the age of the sign-in was checked.';

select bind_to_institution('transfer_sign_ins');
grant select, insert on transfer_sign_ins to sharedraft_service;

create trigger transfers_stepped_up after insert on transfers
  referencing new table as written for each statement execute function check_transfers_stepped_up();

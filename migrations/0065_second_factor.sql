-- A second step of sign-in: codes of an authenticator app (RFC 6238), and recovery codes.

create table authenticators (
  institution_id    integer not null,
  user_key          bigint not null,
  authenticator_id  uuid not null,
  name              text not null constraint authenticators_name check (
                      length(name) between 1 and 64 and name = btrim(name) and name !~ '[[:cntrl:]]'),
  sealed_secret     bytea not null constraint authenticators_sealed_secret check (length(sealed_secret) = 48),
  last_step         bigint not null constraint authenticators_last_step check (last_step > 0),
  created_at        timestamptz not null,
  last_used_at      timestamptz constraint authenticators_used check (last_used_at >= created_at),
  primary key (institution_id, user_key),
  foreign key (institution_id, user_key) references users
);
create trigger authenticators_step before update on authenticators
  for each row execute function check_authenticator();

comment on table authenticators is 'Authenticator apps of members, one each: sign-in by password then needs a code (RFC 6238).';
comment on column authenticators.sealed_secret is 'The 20 bytes shared with the app, sealed with SECRET_KEY.';
comment on column authenticators.last_step is 'The 30-second step of the last code that counted. Only a later one counts.';

create table recovery_codes (
  institution_id  integer not null,
  user_key        bigint not null,
  place           smallint not null constraint recovery_codes_place check (place between 1 and 10),
  code_hash       bytea not null constraint recovery_codes_hash check (length(code_hash) = 32),
  created_at      timestamptz not null,
  primary key (institution_id, user_key, place),
  foreign key (institution_id, user_key) references authenticators,
  constraint recovery_codes_by_hash unique (institution_id, user_key, code_hash)
);

comment on table recovery_codes is 'Codes in place of one of the authenticator app, ten at most. A used one is deleted.';
comment on column recovery_codes.code_hash is 'Keyed hash of 120 random bits.';

alter table member_sessions
  drop constraint member_sessions_methods_check,
  add constraint member_sessions_methods_check
    check (cardinality(methods) > 0 and methods <@ array['pwd', 'otp', 'hwk', 'swk', 'user', 'mfa']) not valid;

alter table authorization_grants
  drop constraint authorization_grants_methods,
  add constraint authorization_grants_methods
    check (cardinality(methods) > 0 and methods <@ array['pwd', 'otp', 'hwk', 'swk', 'user', 'mfa']) not valid;

alter table refresh_families
  drop constraint refresh_families_acr_check,
  add constraint refresh_families_acr_check
    check (acr in ('phr', 'http://schemas.openid.net/pape/policies/2007/06/multi-factor')) not valid;
comment on column refresh_families.acr is
  'phr: the member signed in with a passkey. The address of multi-factor: with a password and a code. Null: with a password, or before this column.';

alter table transfer_sign_ins
  drop constraint transfer_sign_ins_acr_check,
  add constraint transfer_sign_ins_acr_check
    check (acr in ('phr', 'http://schemas.openid.net/pape/policies/2007/06/multi-factor')) not valid;
comment on column transfer_sign_ins.acr is 'As in refresh_families.';

alter table alerts
  drop constraint alerts_alert_type_check,
  add constraint alerts_alert_type_check check (alert_type in (
    'LOW_BALANCE', 'HIGH_BALANCE', 'DEPOSIT', 'PAYMENT', 'TRANSFER_COMPLETE', 'TRANSFER_FAILED', 'TRANSFER_PENDING',
    'PAYMENT_DUE', 'CONTACT_CHANGED', 'PASSWORD_CHANGED', 'NEW_DEVICE', 'SECOND_FACTOR_CHANGED', 'RECOVERY_CODE_USED')) not valid,
  drop constraint alerts_security,
  add constraint alerts_security check (
    (account_key is null) = (alert_type in (
      'CONTACT_CHANGED', 'PASSWORD_CHANGED', 'NEW_DEVICE', 'SECOND_FACTOR_CHANGED', 'RECOVERY_CODE_USED'))) not valid;

select bind_to_institution('authenticators', 'recovery_codes');

grant select, insert, delete on authenticators, recovery_codes to sharedraft_service;
grant update (sealed_secret, last_step, last_used_at) on authenticators to sharedraft_service;

-- Consent account by account: a consent covers the accounts that it names, or all accounts of the member, also those of later.

-- Consents of before cover all accounts, as they did.
alter table consents
  add column all_accounts boolean not null default true,
  add column version integer not null default 0;
comment on column consents.all_accounts is 'The consent covers every account of the member, also those of later. False: those in consent_accounts.';
comment on column consents.version is 'Counts the changes of the consent and its accounts, so that an answer of before is not sent after one.';
grant update (scopes, all_accounts) on consents to sharedraft_service;

create table consent_accounts (
  institution_id  integer not null,
  consent_id      uuid not null,
  account_key     bigint not null,
  may_pay         boolean not null,
  primary key (institution_id, consent_id, account_key),
  foreign key (institution_id, consent_id) references consents,
  foreign key (institution_id, account_key) references accounts
);
comment on table consent_accounts is 'The accounts that a consent names. They only become fewer: more need a new consent.';
comment on column consent_accounts.may_pay is 'With the scope transfer:write: the app may pay from the account.';

create trigger consent_accounts_named before insert or update on consent_accounts
  for each row execute function check_consent_account();
create trigger consent_accounts_added after insert on consent_accounts
  referencing new table as touched for each statement execute function count_consent_changes();
create trigger consent_accounts_changed after update on consent_accounts
  referencing new table as touched for each statement execute function count_consent_changes();
create trigger consent_accounts_removed after delete on consent_accounts
  referencing old table as touched for each statement execute function count_consent_changes();

-- A remembered caller stands on the consent behind the token. Each change of an account of it raises consents.version.
select note_changes_of('consents', 'user');

-- The consent of a login that is renewed. Its access tokens name it.
-- Without a foreign key: a trigger takes it from the grant, which has one.
alter table refresh_families add column consent_id uuid;
comment on column refresh_families.consent_id is 'Null: the login needs no consent, or began before this column.';

create table transfer_consents (
  institution_id  integer not null,
  transfer_key    bigint not null,
  consent_id      uuid not null,
  primary key (institution_id, transfer_key),
  foreign key (institution_id, transfer_key) references transfers,
  foreign key (institution_id, consent_id) references consents
);
comment on table transfer_consents is 'The consent under which an app ordered a transfer of its member.';
create trigger transfer_consents_cover after insert on transfer_consents
  referencing new table as written for each statement execute function check_transfers_consented();

select bind_to_institution('consent_accounts', 'transfer_consents');

grant select, insert, delete on consent_accounts to sharedraft_service;
grant update (may_pay) on consent_accounts to sharedraft_service;
grant select, insert on transfer_consents to sharedraft_service;

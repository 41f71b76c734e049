-- Operators: the persons of an institution who use the console and the operations of /operations/v1 (ADR 51).

create table operators (
  institution_id   integer not null,
  operator_id      text collate "C" not null check (operator_id ~ '^[0-9a-f-]{36}$'),
  name             text not null check (
                     length(name) between 1 and 128 and name = btrim(name)
                     and name !~ '[[:cntrl:]\u00AD\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]'),
  roles            text[] not null check (
                     cardinality(roles) between 1 and 5
                     and roles <@ array['viewer', 'teller', 'approver', 'administrator', 'auditor']),
  status           text not null check (status in ('INVITED', 'ACTIVE', 'SUSPENDED', 'ENDED')),
  source           text not null check (source in ('INVITATION', 'PROVIDER', 'DEMO')),
  provider_subject text collate "C" check (length(provider_subject) between 1 and 255),
  created_at       timestamptz not null,
  primary key (institution_id, operator_id),
  constraint operators_provider_subject check ((source = 'PROVIDER') = (provider_subject is not null))
);
create unique index operators_by_name on operators (institution_id, fold_name(name));
create unique index operators_by_subject on operators (institution_id, provider_subject) where provider_subject is not null;
create trigger operators_change before insert or update on operators for each row execute function check_operator();

comment on table operators is 'The persons who run an institution, with their roles. A row stays for the audit; the person ends.';
comment on column operators.name is 'Under which acts stand in the audit. Dual control compares it, so it is unique in the institution, look-alikes included.';
comment on column operators.roles is 'Each role has the rights of src/operators/access/rights.ts.';
comment on column operators.status is 'INVITED has not signed in yet. ENDED is final.';
comment on column operators.source is 'PROVIDER: the roles are those of the last sign-in at the institution''s OpenID provider. DEMO: a button of the demo.';
comment on column operators.provider_subject is 'The claim sub of the OpenID provider.';

create table operator_sessions (
  institution_id   integer not null,
  session_id       text collate "C" not null check (session_id ~ '^[0-9a-f-]{36}$'),
  secret_hash      bytea not null check (length(secret_hash) = 32),
  operator_id      text collate "C" not null,
  kind             text not null check (kind in ('BROWSER', 'COMMAND_LINE')),
  method           text not null check (method in ('provider', 'passkey', 'demo')),
  authenticated_at timestamptz not null,
  created_at       timestamptz not null,
  last_used_at     timestamptz not null,
  expires_at       timestamptz not null check (expires_at > created_at),
  ended_at         timestamptz,
  address          inet,
  user_agent       text check (length(user_agent) <= 256),
  primary key (institution_id, session_id),
  foreign key (institution_id, operator_id) references operators
);
create unique index operator_sessions_by_secret on operator_sessions (institution_id, secret_hash);
create index operator_sessions_by_operator on operator_sessions (institution_id, operator_id);

comment on table operator_sessions is 'Browsers and command lines in which operators are signed in. Deleted once expired.';
comment on column operator_sessions.secret_hash is 'HMAC of the cookie or the token under SECRET_KEY.';
comment on column operator_sessions.authenticated_at is 'When the person last proved who they are. An approval wants this within five minutes.';

alter table audit_entries
  add column operator_id text collate "C",
  add column break_glass boolean not null default false;
alter table audit_entries drop constraint audit_entries_origin;
alter table audit_entries
  add constraint audit_entries_operator_id_check check (operator_id ~ '^[0-9a-f-]{36}$') not valid,
  add constraint audit_entries_origin
    check (num_nonnulls(address, operator) <= 1 or operator_id is not null and operator is not null) not valid,
  add constraint audit_entries_break_glass check (not break_glass or operator is not null and operator_id is null) not valid;
create trigger audit_entries_operator before insert on audit_entries
  for each row when (new.operator_id is not null and new.outcome = 'succeeded') execute function check_operator_acts();

comment on column audit_entries.operator is 'The name of the signed-in operator, or the system user that ran the command.';
comment on column audit_entries.operator_id is 'The operator who was signed in; null for a system user.';
comment on column audit_entries.break_glass is 'A command of a system user in an institution that has operators.';

select bind_to_institution('operators', 'operator_sessions');

grant select on operators, operator_sessions to sharedraft_service;
grant insert, update (roles, status) on operators to sharedraft_service;
grant insert, delete on operator_sessions to sharedraft_service;
grant update (last_used_at, ended_at) on operator_sessions to sharedraft_service;
grant insert (operator_id, break_glass) on audit_entries to sharedraft_service;

-- Operators sign in at their institution's OpenID provider (ADR 57).

alter table operators
  add column provider_issuer text collate "C" check (length(provider_issuer) between 1 and 2048),
  add constraint operators_provider_issuer check ((source = 'PROVIDER') = (provider_issuer is not null));
drop index operators_by_subject;
create unique index operators_by_subject on operators (institution_id, provider_issuer, provider_subject)
  where provider_subject is not null;
comment on column operators.provider_issuer is 'The provider that gave the subject: another one may give the same to another person.';
grant insert (provider_issuer) on operators to sharedraft_service;

create table operator_providers (
  institution_id   integer not null primary key,
  issuer           text collate "C" not null check (length(issuer) between 1 and 2048),
  client_id        text collate "C" not null check (length(client_id) between 1 and 255),
  sealed_secret    bytea check (length(sealed_secret) between 29 and 4096),
  scope            text collate "C" not null check (scope ~ '(^| )openid( |$)' and length(scope) <= 1024),
  group_claim      text collate "C" not null check (length(group_claim) between 1 and 255),
  may_be_inside    boolean not null
);
create table operator_provider_groups (
  institution_id   integer not null references operator_providers,
  group_name       text collate "C" not null check (length(group_name) between 1 and 255),
  role             text not null check (role in ('viewer', 'teller', 'approver', 'administrator', 'auditor')),
  primary key (institution_id, group_name, role)
);
comment on table operator_providers is 'The OpenID provider at which an institution''s operators sign in.';
comment on column operator_providers.sealed_secret is 'The client secret, sealed under SECRET_KEY. Null: private_key_jwt with the service''s signing key.';
comment on column operator_providers.may_be_inside is 'The operators of the service said that its addresses are inside their network.';
comment on table operator_provider_groups is 'The roles of each group of the provider. A person without one is refused.';

select bind_to_institution('operator_providers', 'operator_provider_groups');

grant select, insert, delete on operator_providers, operator_provider_groups to sharedraft_service;
grant update (issuer, client_id, sealed_secret, scope, group_claim, may_be_inside) on operator_providers to sharedraft_service;

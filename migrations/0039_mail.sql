-- Mail to members: an endpoint of the transport SMTP sends the alerts that have an address, with the same position, lease and schedule as
-- the webhooks of clients.

alter table webhook_endpoints
  add column transport text not null default 'HTTPS' check (transport in ('HTTPS', 'SMTP')),
  alter column client_id drop not null,
  drop constraint webhook_endpoints_url_check,
  add constraint webhook_endpoints_url_check check (
    case transport when 'SMTP' then url = 'smtp:' else length(url) <= 2048 and url ~ '^https?://[!-~]+$' end),
  add constraint webhook_endpoints_client check ((client_id is null) = (transport = 'SMTP'));
create unique index webhook_endpoints_mail on webhook_endpoints (institution_id) where transport = 'SMTP';

comment on column webhook_endpoints.transport is 'SMTP: mail to members, at most one an institution.';
comment on column webhook_endpoints.client_id is 'Null for mail, which no client owns.';

create table mail_senders (
  institution_id  integer primary key references institutions,
  endpoint_id     uuid not null,
  from_name       text not null check (length(from_name) between 1 and 100 and from_name !~ '[[:cntrl:]]'),
  from_address    text collate "C" not null check (length(from_address) <= 254 and from_address ~ '^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+$'),
  reply_to        text collate "C" check (length(reply_to) <= 254 and reply_to ~ '^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+$'),
  changed_at      timestamptz not null,
  foreign key (institution_id, endpoint_id) references webhook_endpoints on delete cascade
);

comment on table mail_senders is 'Institutions that send their alerts by mail, and the name and address that members see.';

create table mail_suppressions (
  institution_id  integer not null references institutions,
  address         text collate "C" not null check (length(address) between 3 and 254 and address = lower(address)),
  reason          text not null check (reason in ('BOUNCED', 'COMPLAINED', 'REFUSED', 'OPERATOR')),
  suppressed_at   timestamptz not null,
  primary key (institution_id, address)
);

comment on table mail_suppressions is 'Addresses that get no mail until an operator lifts the suppression.';
comment on column mail_suppressions.reason is
  'BOUNCED, COMPLAINED: reported from outside. REFUSED: by the mail server, while the message was handed over. OPERATOR: by hand.';

select bind_to_institution('mail_senders', 'mail_suppressions');

grant select, insert, update, delete on mail_senders to sharedraft_service;
grant select, insert, delete on mail_suppressions to sharedraft_service;

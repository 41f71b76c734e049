-- Mutual TLS (RFC 8705): clients that authenticate by a certificate, and tokens that are bound to one.

alter table clients
  add column binds_to_certificate boolean not null default false,
  add constraint clients_one_binding check (not (binds_to_certificate and (requires_dpop or is_public))),
  drop constraint clients_fapi2,
  add constraint clients_fapi2 check (
    security_profile <> 'FAPI2'
    or (not is_public and requires_dpop <> binds_to_certificate and not allows_token_endpoint_audience
        and not grants && array['password']
        and not (array_to_string(redirect_uris, ' ') || ' ') ~ '(^| )(?!https://)[^ ]'));
comment on column clients.binds_to_certificate is 'Its tokens are bound to the certificate of its connection (RFC 8705 section 3).';
grant update (binds_to_certificate) on clients to sharedraft_service;

create table client_certificates (
  institution_id  integer not null,
  client_id       text collate "C" not null,
  thumbprint      text collate "C" not null check (thumbprint ~ '^[A-Za-z0-9_-]{43}$'),
  expires_at      timestamptz not null,
  created_at      timestamptz not null,
  primary key (institution_id, client_id, thumbprint),
  foreign key (institution_id, client_id) references clients
);

comment on table client_certificates is 'Certificates of clients that authenticate by self_signed_tls_client_auth (RFC 8705 section 2.2).';
comment on column client_certificates.thumbprint is 'SHA-256 of the certificate in DER, in base64url: x5t#S256.';
comment on column client_certificates.expires_at is 'The end of its validity, for people. The certificate itself decides.';

select bind_to_institution('client_certificates');
grant select, insert, delete on client_certificates to sharedraft_service;

create trigger client_certificates_fapi2 before insert on client_certificates
  for each row execute function check_fapi2_credential();

alter table refresh_families
  add column certificate_thumbprint text collate "C",
  add constraint refresh_families_certificate_thumbprint check (certificate_thumbprint ~ '^[A-Za-z0-9_-]{43}$') not valid,
  add constraint refresh_families_one_binding check (key_thumbprint is null or certificate_thumbprint is null) not valid;
comment on column refresh_families.certificate_thumbprint is 'The certificate with which the login began (RFC 8705 section 3); null for other tokens.';

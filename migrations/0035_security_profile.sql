-- The FAPI 2.0 Security Profile as a setting of a client.

alter table clients
  add column security_profile text not null default 'STANDARD'
    constraint clients_security_profile check (security_profile in ('STANDARD', 'FAPI2')),
  add constraint clients_fapi2 check (
    security_profile <> 'FAPI2'
    or (not is_public and requires_dpop and not allows_token_endpoint_audience and not grants && array['password']
        and not (array_to_string(redirect_uris, ' ') || ' ') ~ '(^| )(?!https://)[^ ]'));
comment on column clients.security_profile is 'FAPI2: the FAPI 2.0 Security Profile of the OpenID Foundation.';
grant update (security_profile) on clients to sharedraft_service;

create trigger clients_fapi2_credentials before update of security_profile on clients
  for each row when (new.security_profile = 'FAPI2') execute function check_fapi2_client();
create trigger client_secrets_fapi2 before insert on client_secrets
  for each row execute function check_fapi2_credential();
create trigger client_keys_fapi2 before insert on client_keys
  for each row execute function check_fapi2_credential();

-- Client ids that mean themselves in HTTP Basic, and the audience of client assertions.

-- Libraries disagree on form-encoding the two parts of Basic (RFC 6749 section 2.3.1): % and + change their meaning, : splits.
-- Not valid: ids of before stay, and go on in the body of a request.
alter table client_directory
  add constraint client_directory_plain_ids check (client_id ~ '^[A-Za-z0-9._~-]{1,128}$') not valid;

alter table clients
  -- False: an assertion names our issuer alone (draft-ietf-oauth-rfc7523bis). True: for a library that cannot.
  add column allows_token_endpoint_audience boolean not null default false;

grant update (allows_token_endpoint_audience) on clients to sharedraft_service;

-- A refreshed access token says how the member signed in, as the first one does (RFC 9068 section 2.2.1).
alter table refresh_families
  add column methods text[],
  add constraint refresh_families_methods
    check (cardinality(methods) > 0 and methods <@ array['pwd', 'otp', 'hwk', 'swk', 'user', 'mfa']) not valid,
  add constraint refresh_families_acr_of_methods
    check (methods is null or acr is not distinct from case
             when methods && array['hwk', 'swk'] then 'phr'
             when methods @> array['mfa'] then 'http://schemas.openid.net/pape/policies/2007/06/multi-factor'
           end) not valid;
comment on column refresh_families.methods is
  'How the member proved who they are (RFC 8176), for the claim amr. Null: the login began before this column.';

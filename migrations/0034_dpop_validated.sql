-- Without the lock of the addition.

alter table authorization_grants validate constraint authorization_grants_key_thumbprint;
alter table refresh_families validate constraint refresh_families_key_thumbprint;

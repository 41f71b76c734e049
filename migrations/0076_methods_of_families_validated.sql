-- In a migration of its own: no write waits for the scan of a large table.
alter table refresh_families validate constraint refresh_families_methods;
alter table refresh_families validate constraint refresh_families_acr_of_methods;

-- In a migration of its own: no write waits for the scan of a large table.
alter table member_sessions validate constraint member_sessions_methods_check;
alter table authorization_grants validate constraint authorization_grants_methods;
alter table refresh_families validate constraint refresh_families_acr_check;
alter table transfer_sign_ins validate constraint transfer_sign_ins_acr_check;
alter table alerts validate constraint alerts_alert_type_check;
alter table alerts validate constraint alerts_security;

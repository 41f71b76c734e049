-- Host names of institutions: at its own name an institution is an issuer of its own (ADR 68).

alter table institutions
  add column host text collate "C"
    constraint institutions_host_is_free unique
    constraint institutions_host check (
      length(host) <= 253 and host ~ '^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$');
comment on column institutions.host is
  'The host name of its own, in lower case and ASCII; null: it is found at PUBLIC_URL only. The issuer there is https:// and this name.';
grant update (host) on institutions to sharedraft_service;

create trigger note_hosts_inserted after insert on institutions
  for each row when (new.host is not null) execute function note_hosts();
create trigger note_hosts_updated after update of host, served on institutions
  for each row when (new.host is distinct from old.host or new.host is not null and new.served <> old.served)
  execute function note_hosts();
create trigger note_hosts_deleted after delete on institutions
  for each row when (old.host is not null) execute function note_hosts();

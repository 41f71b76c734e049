-- Host names are claimed and published as clients and providers are, by the cell whose institution has them.

alter table directory_hosts rename column added_at to claimed_at;
grant update (claimed_at) on directory_hosts to sharedraft_service;
comment on table directory_hosts is 'Host names of institutions of all cells: issuers of their own, by which a proxy finds their cell. A name is claimed here before its cell writes it.';

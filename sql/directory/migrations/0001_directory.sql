-- The directory of cells, in a database of its own: which cell serves an institution, and which institution a name belongs to.
-- Cells write it through their service's logins (docs/cells.md), and every process remembers what it read.

create table directory_cells (
  name            text collate "C" primary key check (name ~ '^[a-z][a-z0-9-]{0,30}$'),
  address         text collate "C" not null check (address ~ '^https?://[a-z0-9.:_\[\]-]+$'),
  first_number    integer not null check (first_number > 0),
  last_number     integer not null check (last_number <= 9000000),
  state           text not null default 'serving' check (state in ('serving', 'out')),
  program         text not null,
  schema_version  integer not null,
  public_url      text not null,
  fingerprint     bytea not null check (octet_length(fingerprint) = 32),
  changed_at      timestamptz not null,
  constraint directory_cells_numbers check (first_number <= last_number),
  constraint directory_cells_apart exclude using gist (int4range(first_number, last_number, '[]') with &&)
);
comment on table directory_cells is 'The cells, each with its address inside the network and the institution numbers that it alone gives out.';
comment on column directory_cells.state is 'serving; out: no request is forwarded to it, and no institution moves to it.';
comment on column directory_cells.schema_version is 'The newest migration of its database.';
comment on column directory_cells.fingerprint is 'A keyed hash that is equal for cells of one SECRET_KEY. It tells nothing of the key.';

create table directory_institutions (
  institution_id  integer primary key check (institution_id > 0),
  code            text collate "C" not null unique check (code ~ '^[a-z][a-z0-9-]{1,30}$'),
  cell            text collate "C" not null references directory_cells,
  placed_at       timestamptz not null
);
create index directory_institutions_by_cell on directory_institutions (cell);
comment on table directory_institutions is 'Every institution, and the cell that serves it. A move changes the cell after the source let go and before the target opens.';

create table directory_hosts (
  host            text collate "C" primary key
                  check (length(host) <= 253 and host ~ '^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$'),
  institution_id  integer not null references directory_institutions,
  added_at        timestamptz not null
);
create index directory_hosts_by_institution on directory_hosts (institution_id);
comment on table directory_hosts is 'Host names of institutions, by which a proxy finds their cell.';

create table directory_clients (
  client_id       text collate "C" primary key check (client_id ~ '^[A-Za-z0-9._~-]{1,128}$'),
  institution_id  integer not null references directory_institutions,
  claimed_at      timestamptz not null
);
create index directory_clients_by_institution on directory_clients (institution_id);
comment on table directory_clients is 'OAuth clients of all cells. An id is claimed here before its cell creates the client.';

create table directory_providers (
  issuer          text collate "C" not null,
  audience        text collate "C" not null,
  institution_id  integer not null references directory_institutions,
  claimed_at      timestamptz not null,
  primary key (issuer, audience)
);
create index directory_providers_by_institution on directory_providers (institution_id);
comment on table directory_providers is 'Identity providers of all cells. An issuer with its audience is claimed here before its cell registers it.';

create table directory_entries (
  entry_id    bigint generated always as identity primary key,
  at          timestamptz not null default clock_timestamp(),
  login       text not null default session_user,
  actor       text not null,
  table_name  text not null,
  action      text not null check (action in ('insert', 'update', 'delete')),
  before      jsonb,
  after       jsonb
);
comment on table directory_entries is 'The audit: every row that was added, changed or deleted. Triggers write it; it is only added to.';
comment on column directory_entries.actor is 'The cell that made the change, and the operator or the act, as the cell says. The login is the database''s own word.';

-- As in a cell's database (migrations/0016_changes.sql), so that remembered answers are checked by the same question.
create table directory_changes (xid xid8 not null);
create index directory_changes_by_transaction on directory_changes (xid);
comment on table directory_changes is 'Transactions that changed the directory. Triggers write it; the service reads it through changes_since() alone.';

create table directory_changes_kept (
  only_row   boolean primary key default true check (only_row),
  kept_from  xid8 not null,
  next_from  xid8 not null,
  moved_at   timestamptz not null
);
insert into directory_changes_kept (kept_from, next_from, moved_at) values ('0', '0', '-infinity');
comment on table directory_changes_kept is 'The oldest transaction whose changes are all still in directory_changes.';

select watch_directory_table(name::regclass)
from unnest(array['directory_cells', 'directory_institutions', 'directory_hosts', 'directory_clients', 'directory_providers']) name;
create trigger directory_entries_stay before update or delete on directory_entries
  for each row execute function refuse_directory_change();
create trigger directory_institutions_of_a_cell before insert on directory_institutions
  for each row execute function check_directory_number();

grant select, insert on directory_cells, directory_institutions to sharedraft_service;
grant update (address, first_number, last_number, state, program, schema_version, public_url, fingerprint, changed_at)
  on directory_cells to sharedraft_service;
grant update (cell, placed_at) on directory_institutions to sharedraft_service;
grant select, insert, delete on directory_hosts, directory_clients, directory_providers to sharedraft_service;
grant select on directory_entries to sharedraft_service;

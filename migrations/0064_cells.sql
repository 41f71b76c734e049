-- Cells: services with a PostgreSQL each, between which an institution moves.

create table cell (
  only_row      boolean primary key default true check (only_row),
  name          text collate "C" not null check (name ~ '^[a-z][a-z0-9-]{0,30}$'),
  first_number  integer not null check (first_number > 0),
  last_number   integer not null check (last_number <= 9000000),
  set_at        timestamptz not null,
  constraint cell_numbers check (first_number <= last_number)
);
comment on table cell is 'The name of this cell, and the numbers of the institutions that are created in it. Without a row no institution moves.';
comment on column cell.last_number is 'Keys are the number times 1,000,000,000 and more: with this bound they stay below 2^53.';

-- No policy: a key is looked up before the institution of its token is known.
create table cell_keys (
  institution_id  integer not null references institutions,
  kid             text collate "C" not null,
  public_jwk      jsonb not null,
  verifies_until  timestamptz not null,
  primary key (institution_id, kid)
);
comment on table cell_keys is 'Public keys of the cells that an institution came from. They verify tokens of this institution only, until the last one has expired.';

alter table institutions
  add column served text not null default 'here' check (served in ('here', 'arriving', 'leaving', 'left', 'gone')),
  add column other_cell text collate "C",
  add constraint institutions_served check ((served = 'here') = (other_cell is null));
comment on column institutions.served is 'here; arriving: its rows are being copied from another cell; leaving: closed for the end of its move; left: served by another cell, and the copy is kept; gone: served by another cell, without a copy here.';
comment on column institutions.other_cell is 'The cell that it comes from or went to.';

grant select on cell to sharedraft_service;
grant select, delete on cell_keys to sharedraft_service;

create trigger institutions_served_in_order before insert or update of served on institutions
  for each row execute function check_served();

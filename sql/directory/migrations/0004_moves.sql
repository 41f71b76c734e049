-- How often an institution has changed its cell. A cell that was restored from a backup has a lower number than the directory (ADR 75).

alter table directory_institutions add column moves integer not null default 0 check (moves >= 0);
comment on column directory_institutions.moves is 'How often it has changed its cell, undone moves included. It only grows.';
grant update (moves) on directory_institutions to sharedraft_service;

create trigger directory_institutions_moves before update on directory_institutions
  for each row execute function check_directory_moves();

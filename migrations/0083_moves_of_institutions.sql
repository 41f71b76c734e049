-- How often an institution has changed its cell, and the database that was last compared with the directory (ADR 75).

alter table institutions add column moves integer not null default 0 check (moves >= 0);
comment on column institutions.moves is 'How often it has changed its cell. The directory has this number too: where it is higher, this database is older than the last move.';

alter table cell add column compared_timeline text;
comment on column cell.compared_timeline is 'The cluster and timeline (event_timeline) on which a process last found no contradiction to the directory. Another one was restored, or promoted, since.';
grant update (compared_timeline) on cell to sharedraft_service;

-- The rows that an import with --rejects leaves out.

-- Unlogged like the rest of the stage: a crash empties it, and the import is run again.
create unlogged table staged_rejects (
  institution_id  integer not null,
  file            text collate "C" not null,
  line            integer not null,
  column_name     text collate "C" not null,
  expected        text collate "C" not null,
  primary key (institution_id, file, line, column_name, expected)
);

comment on table staged_rejects is 'Errors of the rows that an import leaves out, before they are listed in a file.';
comment on column staged_rejects.column_name is 'Empty if the row has too few or too many values.';
comment on column staged_rejects.expected is 'The end of the sentence that the operator reads; never a value of the row.';

select bind_to_institution('staged_rejects');

grant select, insert, delete on staged_rejects to sharedraft_service;

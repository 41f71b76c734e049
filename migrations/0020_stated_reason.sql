-- The words in which an operator gives the reason of an act.

alter table audit_entries
  add column stated_reason text check (length(stated_reason) between 1 and 256);

comment on column audit_entries.stated_reason is 'The reason in the words of the operator. It may name a person.';

-- An echo and a late announcement change what a history shows without an entry, so they are noted (ADR 33).
select note_changes_of('core_transactions', 'account');
select note_changes_of('core_authorizations', 'account');

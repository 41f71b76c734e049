-- Balances of an institution whose core is away show its last sign of life, so each one is noted (ADR 33).
select note_changes_of('core_connections', 'core');

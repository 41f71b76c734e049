-- The point up to which the books were found in order, for runs of reconcile that check the changes since.

alter table reconcile_runs
  add column full_at timestamptz,
  add column checkpoint_at timestamptz,
  add column checkpoint_epoch bigint,
  add column checkpoint_xid xid8,
  add constraint reconcile_runs_checkpoint check (num_nulls(checkpoint_at, checkpoint_epoch, checkpoint_xid) in (0, 3));
comment on column reconcile_runs.full_at is 'The end of the last run that checked every row. Null for runs of a version without checkpoints.';
comment on column reconcile_runs.checkpoint_at is 'The institution''s time at the start of the last run that found nothing.';
comment on column reconcile_runs.checkpoint_epoch is 'The epoch of the feed then. In another epoch the checkpoint says nothing.';
comment on column reconcile_runs.checkpoint_xid is 'The first transaction that was running then. Later events have this number or a higher one.';

grant update (full_at, checkpoint_at, checkpoint_epoch, checkpoint_xid) on reconcile_runs to sharedraft_service;

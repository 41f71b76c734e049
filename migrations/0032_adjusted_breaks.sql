-- An operator ends a break of an account by posting its difference (ADR 45).

alter table core_breaks
  add column adjusted_seq bigint,
  add constraint core_breaks_adjusted
    check ((closed_by is not distinct from 'ADJUSTED') = (adjusted_seq is not null)) not valid;
alter table core_breaks validate constraint core_breaks_adjusted;

comment on column core_breaks.adjusted_seq is 'The entry of the account that posted the difference. Null unless the break was adjusted.';

create trigger core_breaks_adjusted before update on core_breaks
  for each row when (new.adjusted_seq is not null and old.closed_at is null) execute function check_break_adjusted();

alter table proposals
  drop constraint proposals_kind_check,
  add constraint proposals_kind_check check (kind in ('REVERSAL', 'RULES', 'ADJUSTMENT'));

comment on table proposals is
  'Dual control: one operator proposes a reversal, an adjustment or a change of rules, another confirms it with the same command and content.';
comment on column proposals.subject is 'Id of the transfer to reverse, key of the break to adjust, or SHA-256 of the rules in hex.';

grant update (adjusted_seq) on core_breaks to sharedraft_service;

-- When an app last renewed its tokens. A refresh token that is bound to a key is not rotated, so rotated_at does not say it.
alter table refresh_families add column used_at timestamptz;
comment on column refresh_families.used_at is 'The last renewal; null before the first.';
grant update (used_at) on refresh_families to sharedraft_service;

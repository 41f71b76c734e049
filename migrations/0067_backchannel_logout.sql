-- Apps hear that a member's session in the browser has ended (OpenID Connect Back-Channel Logout 1.0, ADR 65).

alter table clients
  add column backchannel_logout_uri text collate "C"
    constraint clients_backchannel_logout_uri check (
      backchannel_logout_uri ~ '^https?://[!-~]+$' and backchannel_logout_uri !~ '#' and length(backchannel_logout_uri) <= 2048);
comment on column clients.backchannel_logout_uri is
  'Address that gets a logout token when a member''s session in the browser ends; null: none. Only a demo institution sends to http.';
grant update (backchannel_logout_uri) on clients to sharedraft_service;

create table logout_notices (
  institution_id  integer not null,
  session_id      uuid not null,
  client_id       text collate "C" not null,
  user_key        bigint not null,
  attempts        integer not null default 0 constraint logout_notices_attempts check (attempts between 0 and 100),
  due_at          timestamptz not null default '-infinity',
  primary key (institution_id, session_id, client_id),
  foreign key (institution_id, client_id) references clients,
  foreign key (institution_id, user_key) references users
);
create index logout_notices_due on logout_notices (institution_id, due_at);
comment on table logout_notices is
  'Sessions that have ended, a row for each app that has yet to hear of it. Written by the transaction that ends the session, deleted when the app has accepted.';
comment on column logout_notices.attempts is 'Attempts that were begun.';
comment on column logout_notices.due_at is 'The next attempt. A process that begins one moves it, so that no other process sends meanwhile.';

select bind_to_institution('logout_notices');

grant select, insert, delete on logout_notices to sharedraft_service;
grant update (attempts, due_at) on logout_notices to sharedraft_service;

create trigger member_sessions_ended after update on member_sessions
  for each row when (old.ended_at is null and new.ended_at is not null) execute function note_ended_session();
create trigger users_sessions_ended after update on users
  for each row when (new.token_epoch > old.token_epoch) execute function note_ended_sessions_of_user();

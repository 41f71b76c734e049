-- The approval of a command line lasts as long as the session that gave it, so every act that ends the sessions of an operator ends it too. A
-- command line that waited for its decision during the upgrade asks again.

alter table operator_device_requests
  add column session_id text collate "C",
  add constraint operator_device_requests_session
    foreign key (institution_id, session_id) references operator_sessions on delete cascade;

comment on column operator_device_requests.session_id is 'The session in which the operator decided. Once it has ended, the approval counts no more.';

grant update (session_id) on operator_device_requests to sharedraft_service;

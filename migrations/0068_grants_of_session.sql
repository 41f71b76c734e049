create index concurrently authorization_grants_of_session on authorization_grants (institution_id, session_id);

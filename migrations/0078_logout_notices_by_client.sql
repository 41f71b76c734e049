create index concurrently logout_notices_by_client on logout_notices (institution_id, client_id, due_at);

-- A read from a standby is of the primary's own history only if the standby has the primary's row of this table.
grant select on event_timeline to sharedraft_service;

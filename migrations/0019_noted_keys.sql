-- The triggers that note changes take the keys of the new row. A row whose key changed would leave no note for the thing
-- that it described before, so the service may change no key.

revoke update on holders, user_phones from sharedraft_service;
grant update (role, may_pay) on holders to sharedraft_service;
grant update (phone_number) on user_phones to sharedraft_service;

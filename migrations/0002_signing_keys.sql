-- Signing keys rotate. Each is published before it signs, and verifies until the last token that it signed has died;
-- which state a key is in follows from the moments here and the service's clock, alike in every process. The private
-- part is wiped when the next key has taken over.

alter table signing_keys
  add column generation integer check (generation > 0),
  add column signs_from timestamptz,
  alter column sealed_private_key drop not null;

update signing_keys k
set generation = o.generation, signs_from = k.created_at
from (select kid, row_number() over (order by created_at, kid desc) as generation from signing_keys) o
where o.kid = k.kid;

alter table signing_keys
  alter column generation set not null,
  alter column signs_from set not null,
  -- Processes that make the next key at the same moment make one.
  add constraint signing_keys_by_generation unique (generation),
  add constraint signing_keys_published_first check (signs_from >= created_at);

grant update (sealed_private_key), delete on signing_keys to sharedraft_service;

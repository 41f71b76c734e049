-- The public keys by which cells sign tokens. Cells publish each other's at their common issuer, and accept none of them (ADR 72).

create table directory_keys (
  kid           text collate "C" primary key check (length(kid) <= 100),
  cell          text collate "C" not null references directory_cells,
  public_jwk    jsonb not null
                constraint directory_keys_public check (
                  public_jwk ->> 'kid' = kid and public_jwk ->> 'alg' = 'ES256' and public_jwk ->> 'use' = 'sig'
                  and public_jwk ->> 'kty' = 'EC' and public_jwk ->> 'crv' = 'P-256' and public_jwk ? 'x' and public_jwk ? 'y'
                  and public_jwk - array['kid', 'alg', 'use', 'kty', 'crv', 'x', 'y'] = '{}'),
  published_at  timestamptz not null,
  listed_until  timestamptz not null
);
create index directory_keys_by_cell on directory_keys (cell);
comment on table directory_keys is 'The public signing keys of every cell, as long as it has them.';
comment on column directory_keys.listed_until is 'A cell renews it once a day. So the keys of a cell that is lost leave, after the last of its tokens.';

select watch_directory_table('directory_keys');
grant select, insert, delete on directory_keys to sharedraft_service;
grant update (listed_until) on directory_keys to sharedraft_service;

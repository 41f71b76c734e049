-- What a client learns beyond its own affairs: other clients' tokens, and why a registration was refused.

alter table clients
  -- RFC 7662 section 2.1: a client learns about the tokens that were issued to it, and about others only by this right.
  add column introspects_all boolean not null default false,
  -- UNIFORM: every refused registration gets one answer, so that it tells no one who is a member. Clients of before
  -- were promised distinct answers and keep them.
  add column registration_refusals text not null default 'DISTINCT'
    check (registration_refusals in ('DISTINCT', 'UNIFORM'));
alter table clients alter column registration_refusals set default 'UNIFORM';

grant update (introspects_all, registration_refusals) on clients to sharedraft_service;

-- Sessions of members belong to the host name at which they began, and logout tokens name its issuer (ADR 68).

alter table member_sessions add column host text collate "C";
comment on column member_sessions.host is 'The institution''s host name at which the session began; null: PUBLIC_URL. No other host accepts its cookie.';
alter table logout_notices add column host text collate "C";
comment on column logout_notices.host is 'That of the session: the issuer that the app knows it from.';

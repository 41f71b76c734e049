-- The color and the logo of an institution on the pages on which its members sign in.

alter table institutions
  add column brand_color text
    constraint institutions_brand_color check (brand_color ~ '^#[0-9a-f]{6}$'),
  add column logo bytea
    constraint institutions_logo_is_png check (
      octet_length(logo) between 8 and 32768 and substring(logo from 1 for 8) = '\x89504e470d0a1a0a'),
  add column logo_hash text
    constraint institutions_logo_hash check (logo_hash is not distinct from encode(sha256(logo), 'hex'));
comment on column institutions.brand_color is 'The color of buttons, links and the name. Null: that of the service.';
comment on column institutions.logo is 'A PNG that stands in place of the name.';
comment on column institutions.logo_hash is 'SHA-256 of the logo, in its address.';
create index institutions_by_logo on institutions (logo_hash) where logo_hash is not null;
grant update (brand_color, logo, logo_hash) on institutions to sharedraft_service;

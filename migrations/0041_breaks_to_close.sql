-- Open breaks are looked at in portions by a statement of the service, each inside its institution's wall.

drop function if exists core_breaks_to_close(integer);

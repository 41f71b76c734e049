-- An institution that is gone keeps its host name in its row, so that late requests are told of its cell. The name is no longer its own
-- here: another institution may have it.

create unique index institutions_host_of_served on institutions (host) where served <> 'gone';
alter table institutions drop constraint institutions_host_is_free;
alter index institutions_host_of_served rename to institutions_host_is_free;

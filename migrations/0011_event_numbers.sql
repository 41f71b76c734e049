-- Numbers of events: each event of an institution has a number in the order of the feed, from 1 without a gap. No event stores
-- its own, since only a committed order can be numbered. Every five hundredth is stored here, and the rest is counted from there.

create table event_marks (
  institution_id  integer not null references institutions,
  number          bigint not null check (number > 0 and number % 500 = 0),
  epoch           integer not null,
  xid             xid8 not null,
  event_key       bigint not null,
  primary key (institution_id, epoch, xid, event_key),
  unique (institution_id, number),
  foreign key (institution_id, event_key) references outbox
);

create trigger event_marks_counted before insert on event_marks
  for each row execute function check_event_mark();

comment on table event_marks is 'The number of every five hundredth event in the order of the feed.';

select bind_to_institution('event_marks');

grant select, insert on event_marks to sharedraft_service;

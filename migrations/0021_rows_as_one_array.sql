-- Rows of the hot tables, as a batch sends them: one array of rows where there was one of each column. The columns stand in
-- the order in which the service writes them.

create type balance_change as (
  account_key  bigint,
  posted       bigint,
  held_out     bigint,
  held_in      bigint,
  seq          bigint
);

create type new_entry as (
  account_key     bigint,
  seq             bigint,
  posting_key     bigint,
  kind            text,
  amount          bigint,
  posted_after    bigint,
  held_out_after  bigint,
  held_in_after   bigint,
  floor           bigint,
  ceiling         bigint
);

create type new_transfer as (
  transfer_key                bigint,
  transfer_id                 text,
  transfer_type               text,
  from_account_id             text,
  to_account_id               text,
  from_key                    bigint,
  to_key                      bigint,
  amount                      bigint,
  currency                    text,
  status                      text,
  failure_code                text,
  failure_detail              text,
  client_id                   text,
  user_key                    bigint,
  payment_option              text,
  previous_year_contribution  boolean,
  reverses_key                bigint,
  operator                    text
);

create type counter_state as (
  limit_key      integer,
  subject_key    bigint,
  period_start   date,
  amount         bigint,
  transfers      integer,
  max_amount     bigint,
  max_transfers  integer
);

create type new_event as (
  kind               text,
  subject_key        bigint,
  from_key           bigint,
  from_seq           bigint,
  to_key             bigint,
  to_seq             bigint,
  data               jsonb,
  secret             bytea,
  secret_expires_at  timestamptz
);

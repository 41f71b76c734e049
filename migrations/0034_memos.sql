-- A transfer's memo, and which limit a declined one would have exceeded.

alter table transfers
  -- One line of text that people read. The service refuses more characters (readable-text.ts): those that change how
  -- other text looks, and those that cannot be seen, are refused here as well.
  add column memo text check (
    length(memo) <= 140 and memo ~ '\S'
    and memo !~ '[[:cntrl:]\u00AD\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]'),
  -- What the first response said, for the same response to a repeated order.
  add column exceeded_limit jsonb check (exceeded_limit is null or failure_code = 'limit_exceeded');

-- As ordered_transfer, with both. That one stays for processes of before.
create type transfer_with_memo as (
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
  operator                    text,
  address                     inet,
  request_id                  text,
  memo                        text,
  exceeded_limit              jsonb
);

create table accounts (
  account_id  bigint primary key,
  balance     bigint not null check (balance >= 0)
) with (fillfactor = 80);
create table transfers (
  transfer_id  bigint primary key generated always as identity,
  from_id      bigint not null,
  to_id        bigint not null,
  amount       bigint not null check (amount > 0),
  created_at   timestamptz not null
);
create table entries (
  entry_id     bigint primary key generated always as identity,
  transfer_id  bigint not null,
  account_id   bigint not null,
  amount       bigint not null,
  created_at   timestamptz not null
);

-- Status and type in one small number. An index leads to each combination in order of time, and a list merges those it needs
-- (ADR 6). A number stays what it is: rows have it stored.
create or replace function list_class_of(status text, transfer_type text) returns smallint
language sql immutable
return case status when 'PENDING' then 0 when 'COMPLETED' then 10 else 20 end
  + case transfer_type
      when 'STANDARD' then 1 when 'CROSS_MEMBER' then 2 when 'IRA_CONTRIBUTION' then 3
      when 'LOAN_PAYMENT' then 4 when 'INTRA_FI' then 5 else 0 end;

-- Until when contributions for a year are taken, where that is not the day of most: in Maine and Massachusetts
-- Patriots' Day moves it.
alter table contribution_limits
  add column filing_date date check (extract(year from filing_date) = tax_year + 1);

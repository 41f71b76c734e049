-- Fails the transaction if a statement wrote a different number of rows than was sent. An update that a policy hides touches no row
-- and raises no error, and no client counts the rows of a statement sent together with COMMIT.
create or replace function expect_rows(written_to text, written bigint, sent bigint) returns void
language plpgsql immutable
set search_path = pg_catalog, public, pg_temp
as $$
begin
  if written is distinct from sent then
    raise exception '% rows of % were written, % were sent', written, written_to, sent using errcode = 'SD016';
  end if;
end
$$;

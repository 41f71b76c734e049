-- An update hidden by a policy touches no row and raises no error. Where COMMIT goes out behind the writes nobody is there
-- to count, so each write counts its own rows, and one that wrote other than were sent fails with all of its transaction.
create function expect_rows(written_to text, written bigint, sent bigint) returns void language plpgsql immutable as $$
begin
  if written is distinct from sent then
    raise exception '% rows of % were written, % sent', written, written_to, sent using errcode = 'SD016';
  end if;
end
$$;

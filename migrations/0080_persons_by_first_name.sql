create index concurrently persons_by_first_name on persons (institution_id, first_name_lower, last_name_lower, person_key);

-- What the summary of a backup's schema says that the one of the backup before does not: computed once, when the backup is registered.
alter table backups add schema_changes jsonb;

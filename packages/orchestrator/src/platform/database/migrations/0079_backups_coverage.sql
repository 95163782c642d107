-- A source's detail says of its kept backups how many were tested lately (features/source-settings/read-coverage.ts). They lie far from each other:
-- read from the table, each costs a page of it. The index has all that is asked, and the organisation for row-level security.
-- step: concurrent
create index concurrently backups_coverage on backups (source_id, id) include (org_id, made_at, proven_at, failed_at) where status = 'available';
-- The same without the columns.
-- step: concurrent
drop index concurrently if exists backups_available;

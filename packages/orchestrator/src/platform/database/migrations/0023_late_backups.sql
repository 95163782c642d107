-- Whether a backup was registered long after it was made, which is rare. All others made before a moment are registered before some time after it, so that
-- a list of what was made until long ago need not look through all that came since (features/backups/listed.ts). A column, so that
-- PostgreSQL knows how rare it is.
alter table backups add registered_late boolean not null generated always as (created_at - made_at > interval '1 hour') stored;
create index backups_org_late on backups (org_id, id) where registered_late;
analyze backups;

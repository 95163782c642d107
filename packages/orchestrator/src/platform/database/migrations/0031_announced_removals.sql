-- What no rule keeps is announced before it goes: expires_at of a backup that is still available is when it will be removed, and
-- removal_told_at when the organisation's channels were told. kept_at: somebody said that it stays, whatever the rules say.
alter table backups add removal_told_at timestamptz, add kept_at timestamptz, add kept_by text collate "C";
create index backups_untold on backups (org_id) where status = 'available' and expires_at is not null and removal_told_at is null;

-- Retention of a source stops at a sudden change of its backups until somebody has looked: since when, and what was seen. What was there
-- when they said that it is right is not sudden any more: retention_accepted_at, and the size of its backups then.
alter table sources add retention_held_at timestamptz, add retention_hold jsonb, add retention_accepted_at timestamptz,
  add retention_accepted_bytes bigint;

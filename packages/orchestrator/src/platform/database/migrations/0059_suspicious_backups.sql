-- When a restore test of a backup last found that its data stand out. The newest backup without that is the last clean one.
alter table backups add suspicious_at timestamptz;
create index backups_suspicious on backups (source_id, id) where status = 'available' and suspicious_at is not null;
create index backups_clean on backups (source_id, id)
where status = 'available' and proven_at is not null and (failed_at is null or failed_at <= proven_at)
  and (suspicious_at is null or suspicious_at < proven_at);

-- When a backup last failed a restore test, and the receipt that says so: one that passed before and fails now is not proven any more.
alter table backups add failed_at timestamptz, add failed_receipt_id text collate "C";
update backups set failed_at = failed.created_at, failed_receipt_id = failed.id
from (select distinct on (backup_id) backup_id, id, created_at from receipts
  where kind = 'restore_test' and result = 'failed' order by backup_id, id desc) as failed
where backups.id = failed.backup_id;

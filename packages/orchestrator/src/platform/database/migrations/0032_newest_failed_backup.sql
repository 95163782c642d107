-- The newest backup of a source that ever failed a restore test: only a pass of one as new clears a failure (packages/proof, proven/).
create index receipts_failed_backups on receipts (source_id, backup_id) where result = 'failed';

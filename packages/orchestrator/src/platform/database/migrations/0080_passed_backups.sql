-- The newest backup of a source that passed a restore test in the last days, without reading all tests of those days (features/sources/read-tests.ts).
-- Every receipt names a backup: that the index says so keeps it from queries that look for such tests in another order.
-- step: concurrent
create index concurrently receipts_passed_backups on receipts (source_id, backup_id, created_at) where kind = 'restore_test' and result = 'passed' and backup_id is not null;

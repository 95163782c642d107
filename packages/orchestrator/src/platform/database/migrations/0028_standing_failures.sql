-- The newest failure of a kind is found without the others of its source, however long that has failed.
create index events_failure_kinds on events (source_id, kind, id) where kind in ('backup_failed', 'restore_failed', 'attestation_failed');

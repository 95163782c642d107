-- A head of this size and root was signed, and this database does not have it: it was set back. Nothing is appended to the log any more, by
-- whatever replica or command, because the next head would contradict the signed one.
alter table logs
  add column missing_head_size bigint,
  add column missing_head_root bytea;

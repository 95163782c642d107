-- Of the day's newest backup that says it: a digest of its triggers, functions, grants and what else a schema's hash does not have.
alter table source_days add objects_digest text;

-- Of the day's newest backup that says it: a digest of the definitions of its triggers, functions and what else a schema's hash does not have.
alter table source_days add definitions_digest text;

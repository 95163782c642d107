-- When the log's newest entry was recorded. Whoever appends sees by it that a clock went back. Null until an entry is appended.
alter table logs add column newest_at timestamptz;

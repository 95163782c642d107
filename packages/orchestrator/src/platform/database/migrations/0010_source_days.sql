-- What became of each source on each day (UTC), by when it happened: a row a day in place of its receipts, for pages that show months of many
-- sources. It is written in the transactions that record the receipts, and follows from them: whoever drops it can make it again as below.
create table source_days (
  org_id text collate "C" not null,
  source_id text collate "C" not null,
  day date not null,
  backups integer not null default 0,
  passed integer not null default 0,
  failed integer not null default 0,
  -- of the day's newest backup: its size, and digests of its schema and of what it was made with
  size_bytes bigint,
  schema_digest text,
  environment_digest text,
  -- whether these changed within the day
  schema_changed boolean not null default false,
  environment_changed boolean not null default false,
  -- of the newest restore test: how long it took to have the data back, and how many checks somebody wrote for it
  restore_ms bigint,
  own_checks integer,
  -- by day: what is read is the last days of all of an organisation's sources
  primary key (org_id, day, source_id)
) with (fillfactor = 50);

insert into source_days (org_id, source_id, day, backups, passed, failed, size_bytes, restore_ms)
select org_id, source_id, day,
  count(*) filter (where kind = 'backup'),
  count(*) filter (where result = 'passed'),
  count(*) filter (where result = 'failed'),
  (array_agg((predicate ->> 'size_bytes')::bigint order by id desc) filter (where kind = 'backup'))[1],
  (array_agg((predicate #>> '{phases,download_ms}')::numeric::bigint + (predicate #>> '{phases,decrypt_ms}')::numeric::bigint
    + (predicate #>> '{phases,restore_ms}')::numeric::bigint order by id desc) filter (where predicate -> 'phases' is not null))[1]
from (
  select *, (least((predicate ->> 'finished_at')::timestamptz, created_at) at time zone 'UTC')::date as day
  from (
    select id, org_id, source_id, kind, result, created_at,
      convert_from(decode(translate(convert_from(envelope, 'UTF8')::jsonb ->> 'payload', '-_', '+/'), 'base64'), 'UTF8')::jsonb
        -> 'predicate' as predicate
    from receipts
  ) as signed
) as dated
group by org_id, source_id, day;

create index events_failures on events (source_id, id) where kind in ('backup_failed', 'restore_failed', 'attestation_failed');
create index scheduled_runs_missed on scheduled_runs (org_id, scheduled_at) where status = 'missed';

-- What waited in the agent's spool at its last heartbeat: {backups, receipts, events}; null where it did not say.
alter table agents add spool jsonb;

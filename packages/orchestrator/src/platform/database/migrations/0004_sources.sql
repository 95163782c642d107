-- A command that is not to be done any more: its source was removed, or moved to another agent before it was acknowledged.
alter table commands add ended_at timestamptz;
drop index commands_open;
create index commands_open on commands (agent_id, id) where status <> 'acked' and ended_at is null;
-- What nobody knows the end of yet: what retention, schedules and receipts ask for.
create index commands_unfinished on commands (source_id, id) where outcome = '{}' and ended_at is null;
create index commands_org_status on commands (org_id, status, id);
create index commands_org_kind on commands (org_id, kind, id);
create index commands_source on commands (source_id, id);
create index commands_agent on commands (agent_id, id);

create index sources_org on sources (org_id, id);
create index sources_next_backup on sources (next_backup_at)
  where next_backup_at is not null and removed_at is null;
create index sources_next_restore_test on sources (next_restore_test_at)
  where next_restore_test_at is not null and removed_at is null;
create index sources_retained on sources (id) where retention is not null and removed_at is null;

-- When a backup arrived, and when a restore test's result did: what a schedule waits for.
create index backups_arrival on backups (source_id, created_at);
create index receipts_tests on receipts (source_id, created_at) where kind = 'restore_test';

-- Each time that a schedule named, what was asked for then, and whether it happened before its deadline. A time is there once:
-- that is what makes a run happen once whatever replicas and crashes do.
create table scheduled_runs (
  source_id text collate "C" not null references sources (id),
  kind text not null check (kind in ('backup', 'restore_test')),
  scheduled_at timestamptz not null,
  org_id text collate "C" not null references orgs (id),
  deadline_at timestamptz not null,
  -- null where nothing could be asked for: the agent was revoked, or the service was not there at that time
  command_id text collate "C" references commands (id),
  status text not null default 'waiting' check (status in ('waiting', 'done', 'missed', 'withdrawn')),
  decided_at timestamptz,
  primary key (source_id, kind, scheduled_at),
  check ((status = 'waiting') = (decided_at is null))
);
create index scheduled_runs_waiting on scheduled_runs (deadline_at) where status = 'waiting';
create index scheduled_runs_org on scheduled_runs (org_id, scheduled_at);

-- What did not happen, from when it was due until it does. One at a time of each kind: while it is open nothing more is logged of it.
create table incidents (
  -- of the event that tells of it
  id text collate "C" primary key,
  org_id text collate "C" not null references orgs (id),
  kind text not null check (kind in ('backup_missed', 'restore_test_missed', 'agent_silent')),
  source_id text collate "C" references sources (id),
  agent_id text collate "C" references agents (id),
  began_at timestamptz not null,
  ended_at timestamptz,
  check ((source_id is null) = (kind = 'agent_silent') and (agent_id is null) = (source_id is not null))
);
create unique index incidents_open_source on incidents (source_id, kind) where ended_at is null and source_id is not null;
create unique index incidents_open_agent on incidents (agent_id) where ended_at is null and agent_id is not null;
create index incidents_open on incidents (org_id, id) where ended_at is null;
create index incidents_org on incidents (org_id, id);

-- The row says first that a backup has expired; its object goes afterwards, and that is repeated until it is gone.
alter table backups add removal_due_at timestamptz;
alter table backups add object_removed_at timestamptz;
create index backups_to_remove on backups (removal_due_at) where status = 'expired' and object_removed_at is null;
create index backups_available on backups (source_id, id) where status = 'available';

-- What runs by the clock, in all replicas together. A run is claimed by moving started_at.
create table jobs (
  name text primary key,
  started_at timestamptz not null,
  finished_at timestamptz,
  -- since when it has been started without a long pause: before that nobody was watching
  running_since timestamptz not null
);

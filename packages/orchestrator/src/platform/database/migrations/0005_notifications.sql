-- Where an organisation's notifications go. A channel is never deleted: the log of deliveries names it. One that was removed has no
-- secret any more.
create table notification_channels (
  id text collate "C" primary key,
  org_id text collate "C" not null references orgs (id),
  kind text not null check (kind in ('email', 'webhook')),
  name text,
  -- mail goes to a user of the organisation, for as long as they are one
  user_id text collate "C" references users (id),
  url text,
  -- of a webhook, sealed; after a change the former one signs as well for a while
  sealed_secret bytea,
  former_sealed_secret bytea,
  former_secret_until timestamptz,
  -- null for all
  types text[],
  weekly_evidence boolean not null default false,
  disabled_at timestamptz,
  disabled_reason text check (disabled_reason in ('by_user', 'receiver_gone', 'user_removed')),
  last_delivered_at timestamptz,
  last_failed_at timestamptz,
  created_by text collate "C" not null,
  created_at timestamptz not null default now(),
  removed_at timestamptz,
  check ((user_id is not null) = (kind = 'email') and (url is not null) = (kind = 'webhook')),
  check (kind = 'email' or not weekly_evidence),
  check ((disabled_at is null) = (disabled_reason is null)),
  check ((sealed_secret is not null) = (kind = 'webhook' and removed_at is null))
);
create index notification_channels_org on notification_channels (org_id, id) where removed_at is null;
create unique index notification_channels_user on notification_channels (org_id, user_id) where removed_at is null;

-- How far each organisation's log was read for what is to be told: the index of the next leaf. Indexes have no gaps and become visible in
-- their order, so what is behind the cursor was seen, once. Without a row nobody has asked to be told yet.
create table notification_cursors (
  org_id text collate "C" primary key references orgs (id),
  log_index bigint not null
) with (fillfactor = 50);

-- What is wrong, from the record that began it until it is right again. One at a time of each kind. Those of kinds that the
-- table `incidents` has are ended by it.
create table notification_incidents (
  -- of the event or receipt that began it
  id text collate "C" primary key,
  org_id text collate "C" not null references orgs (id),
  kind text not null check (kind in ('backup_failed', 'backup_missed', 'restore_test_failed', 'restore_test_could_not_run',
    'restore_test_missed', 'agent_silent', 'attestation_failed')),
  source_id text collate "C" references sources (id),
  agent_id text collate "C" references agents (id),
  began_at timestamptz not null,
  ended_at timestamptz,
  check ((source_id is null) <> (agent_id is null))
);
create unique index notification_incidents_source on notification_incidents (source_id, kind)
  where ended_at is null and source_id is not null;
create unique index notification_incidents_agent on notification_incidents (agent_id, kind)
  where ended_at is null and agent_id is not null;
create index notification_incidents_ended on notification_incidents (ended_at) where ended_at is not null;

-- What is told. The key names the incident and whether it begins or ends, or what else it is about: no message comes to be twice.
create table notifications (
  id text collate "C" primary key,
  org_id text collate "C" not null references orgs (id),
  key text not null,
  type text not null,
  occurred_at timestamptz not null,
  data jsonb not null,
  created_at timestamptz not null default now(),
  unique (org_id, key)
);
create index notifications_created on notifications (created_at);

-- A message to a channel. It is taken for an attempt by moving next_attempt_at to the end of a lease.
create table notification_deliveries (
  id text collate "C" primary key,
  org_id text collate "C" not null references orgs (id),
  notification_id text collate "C" not null references notifications (id) on delete cascade,
  channel_id text collate "C" not null references notification_channels (id),
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed', 'cancelled')),
  attempts integer not null default 0,
  -- attempts before somebody had it tried again
  attempts_before integer not null default 0,
  next_attempt_at timestamptz,
  leased_until timestamptz,
  finished_at timestamptz,
  created_at timestamptz not null default now(),
  unique (notification_id, channel_id),
  check ((status = 'pending') = (next_attempt_at is not null) and (status = 'pending') = (finished_at is null))
) with (fillfactor = 70);
create index notification_deliveries_due on notification_deliveries (next_attempt_at) where status = 'pending';
create index notification_deliveries_leased on notification_deliveries (channel_id) where leased_until is not null;
create index notification_deliveries_org on notification_deliveries (org_id, id);
create index notification_deliveries_channel on notification_deliveries (channel_id, id);

create table notification_attempts (
  delivery_id text collate "C" not null references notification_deliveries (id) on delete cascade,
  attempt integer not null,
  org_id text collate "C" not null references orgs (id),
  at timestamptz not null,
  duration_ms integer not null,
  outcome text not null,
  http_status smallint,
  message text not null,
  primary key (delivery_id, attempt)
);

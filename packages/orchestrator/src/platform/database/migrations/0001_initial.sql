-- Identifiers are TypeIDs in text. "C" collation: they are compared as bytes and sort by time.

create table service_settings (
  name text primary key,
  value jsonb not null
);

create table orgs (
  id text collate "C" primary key,
  name text not null,
  slug text not null unique,
  public_log boolean not null default false,
  created_at timestamptz not null default now()
);

-- A user belongs to one organisation; an operator belongs to none.
create table users (
  id text collate "C" primary key,
  org_id text collate "C" references orgs (id),
  email text not null,
  name text,
  role text not null check (role in ('owner', 'admin', 'auditor', 'operator')),
  created_at timestamptz not null default now(),
  check ((org_id is null) = (role = 'operator'))
);
create unique index users_email on users (lower(email));

create table agents (
  id text collate "C" primary key,
  org_id text collate "C" not null references orgs (id),
  name text not null,
  hostname text not null,
  platform text not null,
  agent_version text not null,
  public_key bytea not null,
  key_fingerprint text not null,
  token_sha256 bytea not null unique,
  status text not null default 'active' check (status in ('active', 'revoked')),
  created_at timestamptz not null default now(),
  last_seen_at timestamptz,
  revoked_at timestamptz,
  check ((status = 'revoked') = (revoked_at is not null))
) with (fillfactor = 70);
create index agents_org on agents (org_id, id);

-- What each agent holds of the log as its witness.
create table agent_witnesses (
  agent_id text collate "C" primary key references agents (id),
  tree_size bigint not null,
  checkpoint text not null,
  cosignature text,
  received_at timestamptz not null
) with (fillfactor = 50);

create table auth_keys (
  id text collate "C" primary key,
  org_id text collate "C" not null references orgs (id),
  public_id text not null unique,
  secret_sha256 bytea not null,
  name text,
  created_by text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  last_used_at timestamptz,
  max_uses integer check (max_uses > 0),
  uses integer not null default 0,
  wrong_attempts integer not null default 0 check (wrong_attempts between 0 and 5),
  revoked_at timestamptz
);
create index auth_keys_org on auth_keys (org_id, id);

create table bootstraps (
  id text collate "C" primary key,
  code_sha256 bytea not null unique,
  poll_token_sha256 bytea not null unique,
  name text not null,
  hostname text not null,
  platform text not null,
  agent_version text not null,
  public_key bytea not null,
  address text not null,
  status text not null default 'pending' check (status in ('pending', 'approved', 'denied')),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  decided_at timestamptz,
  decided_by text,
  org_id text collate "C" references orgs (id),
  agent_id text collate "C" references agents (id),
  -- the agent's token, sealed, until the agent's first authenticated call
  sealed_token bytea
);
create index bootstraps_agent on bootstraps (agent_id) where agent_id is not null;

create table sources (
  id text collate "C" primary key,
  org_id text collate "C" not null references orgs (id),
  slug text not null,
  name text not null,
  engine text not null,
  agent_id text collate "C" not null references agents (id),
  test_agent_id text collate "C" references agents (id),
  schedule jsonb,
  retention jsonb,
  objectives jsonb,
  last_backup_at timestamptz,
  last_proven_at timestamptz,
  next_backup_at timestamptz,
  next_restore_test_at timestamptz,
  created_at timestamptz not null default now(),
  removed_at timestamptz
);
create unique index sources_slug on sources (org_id, slug) where removed_at is null;
create index sources_agent on sources (agent_id);
create index sources_test_agent on sources (test_agent_id) where test_agent_id is not null;

create table uploads (
  id text collate "C" primary key,
  org_id text collate "C" not null references orgs (id),
  source_id text collate "C" not null references sources (id),
  agent_id text collate "C" not null references agents (id),
  object_key text not null unique,
  sha256 bytea not null,
  size_bytes bigint not null,
  multipart jsonb,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create table commands (
  id text collate "C" primary key,
  org_id text collate "C" not null references orgs (id),
  source_id text collate "C" not null references sources (id),
  agent_id text collate "C" not null references agents (id),
  kind text not null check (kind in ('backup', 'restore_test')),
  params jsonb not null default '{}',
  status text not null default 'queued' check (status in ('queued', 'delivered', 'acked')),
  attempts integer not null default 0,
  issued_by text not null,
  created_at timestamptz not null default now(),
  delivered_at timestamptz,
  acked_at timestamptz,
  outcome jsonb not null default '{}'
);
create index commands_open on commands (agent_id, id) where status <> 'acked';
create index commands_org on commands (org_id, id);

create table backups (
  id text collate "C" primary key,
  org_id text collate "C" not null references orgs (id),
  source_id text collate "C" not null references sources (id),
  agent_id text collate "C" not null references agents (id),
  upload_id text collate "C" not null unique references uploads (id),
  object_key text not null unique,
  sha256 bytea not null,
  size_bytes bigint not null,
  cipher jsonb not null,
  source_metadata jsonb not null,
  command_id text collate "C" references commands (id),
  status text not null default 'available' check (status in ('available', 'expired')),
  -- when the agent made it; created_at is when the service took it
  made_at timestamptz not null,
  proven_at timestamptz,
  expires_at timestamptz,
  created_at timestamptz not null default now()
);
create index backups_org on backups (org_id, id);
create index backups_source on backups (source_id, id);

-- The log: one row an organisation. Its size and root are the only truth about how far the log is.
-- The tables of the log, receipts and events name organisations, agents, sources and backups without foreign keys: these
-- records are never deleted, each transaction looks them up before it writes, and a check per row and key would
-- cost as much as the rows themselves.
create table logs (
  org_id text collate "C" primary key references orgs (id),
  origin text not null unique,
  tree_size bigint not null default 0 check (tree_size >= 0),
  root_hash bytea not null check (length(root_hash) = 32),
  -- hashes of the perfect subtrees that make up the tree, largest first
  right_edge bytea not null default '' check (length(right_edge) % 32 = 0)
) with (fillfactor = 50);

create table log_leaves (
  org_id text collate "C" not null,
  log_index bigint not null,
  leaf_hash bytea not null,
  leaf bytea not null,
  primary key (org_id, log_index)
);
create index log_leaves_hash on log_leaves (org_id, leaf_hash);

-- Full tiles only (C2SP tlog-tiles): written once and never changed. Partial ones follow from leaves and the full tiles
-- of the level below, of which only root_hash is needed: the hash of the perfect subtree that the tile spans.
create table log_tiles (
  org_id text collate "C" not null,
  level smallint not null,
  tile_index bigint not null,
  root_hash bytea not null check (length(root_hash) = 32),
  hashes bytea not null check (length(hashes) = 8192),
  primary key (org_id, level, tile_index)
);
alter table log_tiles alter column hashes set storage external;

-- Every head that may have been signed, written in the transaction that made its root true.
create table log_heads (
  org_id text collate "C" not null,
  tree_size bigint not null,
  root_hash bytea not null check (length(root_hash) = 32),
  recorded_at timestamptz not null,
  primary key (org_id, tree_size)
);

-- The hourly heads, with the note's and the time's signature. `hour` is the hour that the emission is for.
create table log_emissions (
  org_id text collate "C" not null,
  hour timestamptz not null,
  emitted_at timestamptz not null,
  tree_size bigint not null,
  root_hash bytea not null check (length(root_hash) = 32),
  checkpoint text not null,
  primary key (org_id, hour)
);

create table receipts (
  id text collate "C" primary key,
  org_id text collate "C" not null,
  kind text not null check (kind in ('backup', 'restore_test')),
  source_id text collate "C" not null,
  agent_id text collate "C" not null,
  backup_id text collate "C" not null,
  result text check (result in ('passed', 'failed')),
  -- SHA-256 over payload_sha256 and the signature: one submission, however its JSON was written
  envelope_sha256 bytea not null,
  payload_sha256 bytea not null,
  previous_receipt_sha256 bytea,
  -- the request's body, byte for byte
  envelope bytea not null,
  log_index bigint not null,
  leaf_hash bytea not null,
  created_at timestamptz not null
);
-- Envelopes of the usual size stay in the row: base64 hardly compresses, and a second table costs a second write.
alter table receipts alter column envelope set storage external;
alter table receipts set (toast_tuple_target = 8160);
-- Not per agent: the statement names the agent that submits it, so no two agents can have the same one.
create unique index receipts_envelope on receipts (envelope_sha256);
create index receipts_org on receipts (org_id, id);
create index receipts_source on receipts (source_id, id);
create index receipts_backup on receipts (backup_id, id);

create table events (
  id text collate "C" primary key,
  org_id text collate "C" not null,
  kind text not null,
  source_id text collate "C",
  backup_id text collate "C",
  command_id text collate "C",
  actor_id text not null,
  occurred_at timestamptz not null,
  -- the JCS bytes that the leaf's body_sha256 covers
  body bytea not null,
  log_index bigint not null,
  leaf_hash bytea not null,
  created_at timestamptz not null
);
create index events_org on events (org_id, id);
create index events_source on events (source_id, id) where source_id is not null;

create table idempotency_keys (
  -- SHA-256 over credential, method, path and key
  scope_sha256 bytea primary key,
  -- SHA-256 of the request's raw body
  fingerprint bytea not null,
  status smallint not null,
  -- The answer's bytes; or null where it is an entry of the log, whose answer follows, byte for byte, from its place
  -- and the size of the tree at that time. It holds a signature that does not exist yet when this row commits.
  body bytea,
  log_index bigint,
  tree_size bigint,
  sealed boolean not null default false,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  check ((body is null) = (log_index is not null) and (body is null) = (tree_size is not null))
);
create index idempotency_keys_expiry on idempotency_keys (expires_at);

create table api_logs (
  id text collate "C" primary key,
  org_id text collate "C",
  actor_kind text not null check (actor_kind in ('agent', 'user', 'operator', 'auth_key', 'anonymous', 'console')),
  actor_id text,
  impersonator_id text,
  method text not null,
  route text not null,
  path text not null,
  status smallint not null,
  duration_ms integer not null,
  address text not null,
  user_agent text,
  request_id text not null,
  idempotency_key text,
  created_at timestamptz not null
);
create index api_logs_org on api_logs (org_id, id);

-- Fixed windows of the limits that have to hold across replicas and restarts.
create table rate_limits (
  bucket text not null,
  window_start timestamptz not null,
  hits integer not null,
  primary key (bucket, window_start)
) with (fillfactor = 50);

-- Links that show an auditor, who has no account, the records of one period. The secret is in the link alone.
create table auditor_links (
  id text collate "C" primary key,
  org_id text collate "C" not null references orgs (id),
  secret_sha256 bytea not null unique check (length(secret_sha256) = 32),
  name text not null,
  -- from this moment on, and before the other
  period_from timestamptz not null,
  period_to timestamptz not null,
  -- a user's id
  created_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  openings bigint not null default 0,
  last_opened_at timestamptz,
  revoked_at timestamptz,
  check (period_from < period_to)
);
create index auditor_links_org on auditor_links (org_id, id);

-- Who opened a link has a session without a user. A replica of before sees no such session, and answers 401.
alter table sessions alter column user_id drop not null;
alter table sessions add auditor_link_id text collate "C" references auditor_links (id);
alter table sessions add check ((user_id is null) = (auditor_link_id is not null));
alter table sessions add check (user_id is not null or operator_id is null);

alter table api_logs drop constraint api_logs_actor_kind_check;
-- Rows of before are among these: they need no look.
alter table api_logs add constraint api_logs_actor_kind_check
  check (actor_kind in ('agent', 'user', 'operator', 'auditor_link', 'auth_key', 'anonymous', 'console')) not valid;

-- What an agent encrypts to, and what it knows of its recovery kit, as of its last heartbeat: {recipients, recovery_kit}; null where it
-- did not say.
alter table agents add encryption jsonb;

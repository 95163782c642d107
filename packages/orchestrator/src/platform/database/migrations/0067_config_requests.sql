-- Whether an agent's config.yaml allows the dashboard to add sources and checks, as its heartbeats say.
alter table agents add column remote_config boolean not null default false;
select attestore_grant('agents', 'select (remote_config), update (remote_config)', '{requests}');

-- What people ask of such an agent, and what it answered: a ConfigRequest and a ConfigAnswer.
create table config_requests (
  id text collate "C" primary key,
  org_id text collate "C" not null references orgs (id),
  agent_id text collate "C" not null references agents (id),
  asked_by text not null,
  request jsonb not null,
  status text not null default 'queued' check (status in ('queued', 'delivered', 'answered')),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  delivered_at timestamptz,
  answered_at timestamptz,
  answer jsonb
);
create index config_requests_open on config_requests (agent_id) where status <> 'answered';
select attestore_isolate('config_requests');
-- For heartbeats that have nothing new, and for agents that wait.
select attestore_grant('config_requests', 'select (agent_id, status, expires_at, delivered_at)', '{requests}');
-- Names of databases and counts are not kept for longer than somebody looks at them.
select attestore_grant('config_requests', 'select (id), delete', '{jobs}');

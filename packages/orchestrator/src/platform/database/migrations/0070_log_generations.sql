-- The later generations of logs that lost entries (docs/decisions/0015-log-generations.md). `ended` ended with these entries, and `origin` began with
-- the event that is the next one. logs.origin is the name of a log's present generation.
create table log_generations (
  org_id text collate "C" not null references orgs (id),
  generation integer not null check (generation between 2 and 9999),
  origin text not null,
  ended text not null,
  tree_size bigint not null,
  root_hash bytea not null,
  event_id text collate "C" not null,
  primary key (org_id, generation)
);
select attestore_isolate('log_generations');
-- The heads of ended generations that are named as lost, and the events that name them. One root for each size: a second one would be a fork.
create table log_lost_heads (
  org_id text collate "C" not null references orgs (id),
  origin text not null,
  tree_size bigint not null,
  root_hash bytea not null,
  event_id text collate "C" not null,
  primary key (org_id, origin, tree_size)
);
select attestore_isolate('log_lost_heads');
-- What an event in the log says is never changed.
revoke update on log_generations, log_lost_heads from attestore_tenant, attestore_console;
-- Begun at the machine alone; an agent's heartbeat may name one more head.
revoke insert on log_generations from attestore_tenant;
select attestore_grant('log_generations', 'select', '{log}');
select attestore_grant('log_generations', 'select (org_id, generation, ended, tree_size)', '{jobs}');
select attestore_grant('log_lost_heads', 'select (org_id, origin, tree_size, root_hash)', '{jobs}');

-- Of which generation the missing head is; null where an earlier version wrote the mark: of the present one.
alter table logs add column missing_head_origin text;
select attestore_grant('logs', 'select (origin, missing_head_origin), update (missing_head_origin)', '{jobs}');

-- For the filters of lists and the topics of timelines that pick a few out of a million: without these a page that finds little is looked for through
-- all that the organisation has. What picks out most of them is found soon in the order of the ids.

-- Only restore tests have a result, and only few of those failed.
create index receipts_org_tests on receipts (org_id, id) where kind = 'restore_test';
create index receipts_source_tests on receipts (source_id, id) where kind = 'restore_test';
create index receipts_org_failed on receipts (org_id, id) where result = 'failed';
create index receipts_source_failed on receipts (source_id, id) where result = 'failed';
create index receipts_agent on receipts (agent_id, id);

create index events_org_kind on events (org_id, kind, id);
create index events_org_actor on events (org_id, actor_id, id);

create index backups_agent on backups (agent_id, id);
create index backups_org_status on backups (org_id, status, id);

-- Nearly all calls are agents' heartbeats, and went well.
create index api_logs_actor on api_logs (actor_id, id) where actor_id is not null;
create index api_logs_impersonator on api_logs (impersonator_id, id) where impersonator_id is not null;
create index api_logs_org_people on api_logs (org_id, actor_kind, id) where actor_kind <> 'agent';
create index api_logs_org_refused on api_logs (org_id, status, id) where status >= 300;
create index api_logs_org_method on api_logs (org_id, method, id) where method <> 'POST';

-- Heartbeats leave no rows any more, so that agents' calls are no longer nearly all of them: with many calls of people in between, agents' calls, those that
-- went well and POSTs were found by looking through the newest of all.
drop index api_logs_org_people;
drop index api_logs_org_refused;
drop index api_logs_org_method;
create index api_logs_org_kind on api_logs (org_id, actor_kind, id);
create index api_logs_org_status on api_logs (org_id, status, id);
create index api_logs_org_method on api_logs (org_id, method, id);

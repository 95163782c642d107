-- The newest calls of an actor in an organisation are found without the rows of others, an operator's in other organisations included.
create index api_logs_org_actor on api_logs (org_id, actor_id, id) where actor_id is not null;
create index api_logs_org_impersonator on api_logs (org_id, impersonator_id, id) where impersonator_id is not null;
drop index api_logs_actor;
drop index api_logs_impersonator;

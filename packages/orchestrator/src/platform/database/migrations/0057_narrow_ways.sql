-- Each way keeps the columns that it needs and no others: what is about one organisation is done as attestore_tenant, once it is known which one.
-- test/service-role.test.ts has the list of what each role may.
do $$
begin
  execute (select format('revoke all on %s from attestore_requests, attestore_jobs', string_agg(oid::regclass::text, ', ')) from pg_class
    where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace);
end $$;

-- For each later migration that makes a table: neither requests nor jobs may anything with it unless that migration says so by name.
create or replace function attestore_share(target regclass) returns void language sql as $$
  select attestore_grant(target, 'select, insert, update', '{console}')
$$;

-- A request before it is known whose it is, and after it is answered. Credentials, and who they are of:
select attestore_grant(name::regclass, 'select, insert, update', '{requests}')
from unnest(array['idempotency_keys', 'one_time_codes', 'rate_limits', 'sessions']) as name;
select attestore_grant(name::regclass, 'select, insert, update, delete', '{requests}')
from unnest(array['passkey_challenges', 'passkey_owners', 'passkeys', 'recovery_codes']) as name;
select attestore_grant('agents', 'select (id, org_id, name, public_key, key_fingerprint, token_sha256, status, last_seen_at, agent_version, hostname, platform),
  update (last_seen_at, spool, encryption)', '{requests}');
select attestore_grant('auth_keys', 'select (id, org_id, public_id, secret_sha256, wrong_attempts, revoked_at, expires_at), update (wrong_attempts)', '{requests}');
select attestore_grant('auditor_links', 'select, update (openings, last_opened_at)', '{requests}');
select attestore_grant('users', 'select, update (name, status, removed_at)', '{requests}');
-- the operator's list of organisations, a new one and its empty log, and how many calls each may make,
select attestore_grant('orgs', 'select, insert', '{requests}');
select attestore_grant('logs', 'select, insert', '{requests}');
select attestore_grant('log_heads', 'select, insert', '{requests}');
select attestore_grant('org_quotas', 'select (org_id, bytes, objects, agents, requests)', '{requests}');
-- an attach that nobody has decided on yet, and its poll,
select attestore_grant('bootstraps', 'select, insert, update (sealed_token)', '{requests}');
-- what is put there and read by others,
select attestore_grant('api_logs', 'insert, select (id)', '{requests}');
select attestore_grant('mail_outbox', 'insert', '{requests}');
select attestore_grant('service_settings', 'select', '{requests}');
-- and heartbeats that report nothing new (features/heartbeat/routine.ts).
select attestore_grant('sources', 'select (id, org_id, slug, engine, agent_id, removed_at)', '{requests}');
select attestore_grant('commands', 'select (source_id, agent_id, status, delivered_at, ended_at)', '{requests}');
select attestore_grant('log_emissions', 'select', '{requests}');

-- What runs by the clock finds whose work there is: ids and times, and no content.
select attestore_grant('orgs', 'select (id)', '{jobs}');
select attestore_grant('sources', 'select (id, org_id, slug, removed_at, next_backup_at, next_restore_test_at, schedule, retention, objectives, last_proven_at, last_backup_at)', '{jobs}');
select attestore_grant('scheduled_runs', 'select (org_id, source_id, kind, status, scheduled_at, deadline_at)', '{jobs}');
select attestore_grant('incidents', 'select (id, org_id, kind, source_id, agent_id, began_at, ended_at)', '{jobs}');
select attestore_grant('agents', 'select (id, org_id, status, created_at, last_seen_at)', '{jobs}');
select attestore_grant('commands', 'select (status, created_at, ended_at)', '{jobs}');
select attestore_grant('receipts', 'select (id, source_id, backup_id, kind, result, created_at, happened_at)', '{jobs}');
select attestore_grant('backups', 'select (id, org_id, source_id, upload_id, object_key, status, created_at, made_at, expires_at, removal_told_at, removal_due_at,
  object_removed_at)', '{jobs}');
select attestore_grant('org_quotas', 'select', '{jobs}');
select attestore_grant('notification_channels', 'select (org_id, weekly_evidence, created_at, disabled_at, removed_at)', '{jobs}');
select attestore_grant('notification_cursors', 'select (org_id, log_index)', '{jobs}');
select attestore_grant('notification_incidents', 'select (id, org_id, ended_at), delete', '{jobs}');
select attestore_grant('notifications', 'select (id, org_id, key, created_at), delete', '{jobs}');
-- It takes what is to be sent: a delivery without its message, a mail that is sealed;
select attestore_grant('notification_deliveries', 'select (id, org_id, channel_id, notification_id, status, attempts, attempts_before, next_attempt_at, leased_until),
  update (attempts, next_attempt_at, leased_until)', '{jobs}');
select attestore_grant('mail_outbox', 'select, update (attempts, next_attempt_at), delete', '{jobs}');
-- compares the logs and the objects with what was signed and stored,
select attestore_grant('logs', 'select (org_id, tree_size, root_hash, missing_head_size, missing_head_root), update (missing_head_size, missing_head_root)', '{jobs}');
select attestore_grant('log_heads', 'select (org_id, tree_size, root_hash)', '{jobs}');
select attestore_grant('uploads', 'select (id, object_key, expires_at), delete', '{jobs}');
select attestore_grant('org_usage', 'select, insert, update', '{jobs}');
-- notes what it did,
select attestore_grant(name::regclass, 'select, insert, update', '{jobs}') from unnest(array['jobs', 'service_settings']) as name;
-- and removes what is old.
select attestore_grant('api_logs', 'select (id), delete', '{jobs}');
select attestore_grant('bootstraps', 'select (id, status), delete', '{jobs}');
select attestore_grant('idempotency_keys', 'select (scope_sha256, expires_at), update (expires_at), delete', '{jobs}');
select attestore_grant('rate_limits', 'select (window_start), delete', '{jobs}');
select attestore_grant(name::regclass, 'select (expires_at), delete', '{jobs}')
from unnest(array['one_time_codes', 'passkey_challenges', 'sessions']) as name;

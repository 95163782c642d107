import { createHash, randomBytes } from "node:crypto";
import { newId } from "@attestore/contract";
import type { ClientBase } from "pg";

export interface MadeHistory {
  orgId: string;
  /** The session of a signed-in owner. */
  sessionToken: string;
}

const AGENTS = 20;

/**
 * Inserts a year of an organisation's daily backups and restore tests: the rows that the service's
 * own transactions would have written, except the log's tree, which no page of this benchmark
 * reads. Some days failed, were missed, or were never tested.
 */
export async function makeHistory(
  client: ClientBase,
  orgId: string,
  { sources, days }: { sources: number; days: number },
): Promise<MadeHistory> {
  const sessionToken = `atss_${randomBytes(32).toString("base64url")}`;
  const userId = newId("user");
  await client.query(
    "insert into users (id, org_id, email, role) values ($1, $2, 'owner@example.org', 'owner')",
    [userId, orgId],
  );
  await client.query(
    "insert into sessions (token_sha256, user_id, expires_at) values ($1, $2, now() + interval '1 day')",
    [createHash("sha256").update(sessionToken).digest(), userId],
  );
  const agents = Array.from({ length: AGENTS }, () => newId("agent"));
  // In the database's order, because their numbers decide which has had no test for nine days.
  const sourceIds = Array.from({ length: sources }, () => newId("source")).toSorted();
  await client.query(
    `insert into agents (id, org_id, name, hostname, platform, agent_version, public_key, key_fingerprint, token_sha256, last_seen_at, spool)
     select id, $1, 'host-' || n, 'host-' || n || '.example.org', 'linux-x64', '0.1.0', '\\x00', 'SHA256:' || n,
       sha256(id::bytea), now() - n * interval '1 second', '{"backups": 0, "receipts": 0, "events": 0}'
     from unnest($2::text[]) with ordinality as made (id, n)`,
    [orgId, agents],
  );
  await client.query(
    `insert into sources (id, org_id, slug, name, engine, agent_id, schedule, objectives, last_backup_at, last_proven_at, next_backup_at,
       next_restore_test_at)
     select id, $1, 'database-' || n, 'database-' || n, 'postgresql', ($3::text[])[1 + n % $4::int],
       '{"backup_cron": "0 2 * * *", "restore_test_cron": "0 4 * * *", "timezone": "UTC"}', '{"rpo_s": 172800, "rto_s": 3600}',
       now() - interval '6 hours', now() - (case when n % 13 = 0 then interval '9 days' else interval '4 hours' end),
       now() + interval '18 hours', now() + interval '20 hours'
     from unnest($2::text[]) with ordinality as made (id, n)`,
    [orgId, sourceIds, agents, AGENTS],
  );
  // An id starts with its time, and records are found by that.
  const now = Date.now();
  const suffixes = Array.from({ length: days * sources }, (_, n) =>
    newId("backup", now - Math.floor(n / sources) * 86_400_000 - 6 * 3_600_000).slice("bkp_".length),
  );
  await client.query(
    `create temporary table runs as
     select source.id as source_id, source.agent_id, source.n as source_n, (made.n - 1) / $2::int as day, suffix,
       now() - ((made.n - 1) / $2::int) * interval '1 day' - interval '6 hours' as at
     from unnest($3::text[]) with ordinality as made (suffix, n)
     join (select id, agent_id, row_number() over (order by id) as n from sources where org_id = $1) as source
       on source.n = 1 + (made.n - 1) % $2::int`,
    [orgId, sources, suffixes],
  );
  const statements = [
    `insert into commands (id, org_id, source_id, agent_id, kind, status, attempts, issued_by, created_at, outcome)
     select 'cmd_' || suffix, $1, source_id, agent_id, 'backup', 'acked', 1, 'schedule', at, jsonb_build_object('backup_id', 'bkp_' || suffix) from runs`,
    `insert into uploads (id, org_id, source_id, agent_id, object_key, sha256, size_bytes, created_at, expires_at)
     select 'upl_' || suffix, $1, source_id, agent_id, suffix, sha256(suffix::bytea), 1000000, at, at from runs`,
    `insert into backups (id, org_id, source_id, agent_id, upload_id, object_key, sha256, size_bytes, cipher, source_metadata, made_at,
       created_at)
     select 'bkp_' || suffix, $1, source_id, agent_id, 'upl_' || suffix, suffix, sha256(suffix::bytea), 1000000,
       '{"name": "age-v1", "recipients": ["age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"]}',
       '{"engine": "postgresql", "engine_version": "15.14", "dump_format": "pg_dump-custom", "schema_hash": "ab"}', at, at from runs`,
    `insert into receipts (id, org_id, kind, source_id, agent_id, backup_id, result, envelope_sha256, payload_sha256, envelope, log_index,
       leaf_hash, created_at, happened_at)
     select 'rcpt_' || left(suffix, 25) || kind, $1, case kind when 1 then 'backup' else 'restore_test' end, source_id, agent_id,
       'bkp_' || suffix, case when kind = 1 then null when source_n % 29 = 0 and day = 0 then 'failed' else 'passed' end,
       sha256((kind || suffix)::bytea), sha256(suffix::bytea), repeat('0123456789abcdef', 100)::bytea,
       row_number() over (order by suffix, kind), sha256(suffix::bytea), at + kind * interval '1 hour', at + kind * interval '1 hour'
     from runs, generate_series(1, 2) as kind where kind = 1 or (day % 7 <> 3 and not (source_n % 13 = 0 and day < 9))`,
    `insert into source_days (org_id, source_id, day, backups, passed, failed, size_bytes, restore_ms, schema_digest, environment_digest,
       own_checks)
     select $1, source_id, (at at time zone 'UTC')::date, 1, case when is_tested and not is_failed then 1 else 0 end,
       case when is_tested and is_failed then 1 else 0 end, 1000000 + source_n * 1000 + day * 500,
       case when is_tested then 60000 + (source_n * 7919 + day * 104729) % 30000 end,
       case when day < 3 and source_n % 17 = 0 then 'ab' else 'cd' end, 'ef', 3
     from (select *, day % 7 <> 3 and not (source_n % 13 = 0 and day < 9) as is_tested,
       (source_n % 29 = 0 and day = 0) or (source_n + day * 31) % 97 = 0 as is_failed from runs) as judged`,
    `insert into scheduled_runs (source_id, kind, scheduled_at, org_id, deadline_at, command_id, status, decided_at)
     select source_id, 'backup', at - interval '1 second', $1, at + interval '1 hour', 'cmd_' || suffix,
       case when (source_n + day * 17) % 61 = 0 then 'missed' else 'done' end, at + interval '1 hour' from runs`,
    `insert into events (id, org_id, kind, source_id, actor_id, occurred_at, body, log_index, leaf_hash, created_at)
     select 'evt_' || suffix, $1, case when source_n % 2 = 0 then 'backup_failed' else 'restore_failed' end, source_id, agent_id,
       at - interval '3 hours', '{}', row_number() over (order by suffix), sha256(suffix::bytea), at - interval '3 hours'
     from runs where (source_n * 7 + day) % 83 = 0`,
    `insert into log_heads (org_id, tree_size, root_hash, recorded_at)
     select $1, n, sha256(n::text::bytea), now() - (100000 - n) * interval '5 minutes' from generate_series(1, 100000) as n`,
    `insert into log_emissions (org_id, hour, emitted_at, tree_size, root_hash, checkpoint)
     select $1, hour, hour, 1, sha256('x'::bytea), 'x'
     from generate_series(date_trunc('hour', now()) - interval '1 year', date_trunc('hour', now()), interval '1 hour') as hour`,
    `insert into api_logs (id, org_id, actor_kind, method, route, path, status, duration_ms, address, request_id, created_at)
     select 'log_' || suffix, $1, 'agent', 'POST', '/v1/receipts', '/v1/receipts', 201, 5, '127.0.0.1', 'req_' || suffix, at from runs`,
  ];
  for (const text of statements) await client.query(text, [orgId]);
  await client.query("vacuum (analyze)");
  return { orgId, sessionToken };
}

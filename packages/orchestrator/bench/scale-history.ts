/**
 * The rows of an organisation with many receipts. Receipts, the log's leaves, tiles and heads are
 * written by the service's own statements, some thousand a transaction, so that the tree is a real
 * one and its proofs verify; what else such an organisation has is written as rows.
 */
import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { newId } from "@attestore/contract";
import { publicKeyFromBytes, sshFingerprint } from "@attestore/proof";
import type { Pool, PoolClient } from "pg";
import { recordDays } from "../src/features/receipts/record-days.ts";
import { insertReceipts } from "../src/features/receipts/store.ts";
import { LogAppends } from "../src/log/append/log-appends.ts";
import { lockLogs, type LockedLog } from "../src/log/append/locked-log.ts";
import { LogCorruption } from "../src/log/log-corruption.ts";
import { packHashes, plainArray } from "../src/platform/database/packed.ts";
import { clientSession } from "../src/platform/database/sql-session.ts";
import type { TestAgent } from "../test/log/log-world.ts";
import { API_LOG_MS, makeReceipts, type Fleet, type MadeReceipt } from "./scale-receipts.ts";

const AGENTS = 20;
/** So few that each has more than a page of everything, also with ten thousand receipts. */
const SOURCES = 40;
/** Whole tiles, and whole twenties. */
const BATCH = 2560;
/** Receipts that the measured calls are about, from all of the time. */
const SAMPLES = 400;

export interface Sample {
  receiptId: string;
  /** What the ids of the backup's records end in. */
  backupSuffix: string;
  /** What the ids of the receipt's own records end in; an event is there with each twentieth. */
  suffix: string;
  sourceId: string;
  /** Of the source. */
  agentId: string;
  logIndex: number;
  leafHash: string;
  recordedAt: Date;
}

export interface History {
  orgId: string;
  size: number;
  /** Of an owner's session. */
  token: string;
  agent: TestAgent;
  samples: Sample[];
}

export async function makeHistory(pool: Pool, orgId: string, receipts: number): Promise<History> {
  const fleet = await addFleet(pool, orgId);
  const samples: Sample[] = [];
  const every = Math.max(20, Math.floor(receipts / SAMPLES / 20) * 20);
  const connections = [await pool.connect(), await pool.connect()] as const;
  const indexes = await dropIndexes(pool);
  let batch: MadeReceipt[] = [];
  let written = 0;
  let size = 0;
  for (const made of makeReceipts(fleet, receipts)) {
    batch.push(made);
    if (batch.length < BATCH && written + batch.length < receipts) continue;
    const places = await write(connections, orgId, batch);
    batch.forEach(({ entry, backupSuffix, sourceId }, n) => {
      const place = places[n];
      if ((written + n) % every !== 0 || place === undefined) return;
      const suffix = suffixOf(entry.id);
      const { id: receiptId, recordedAt } = entry;
      samples.push({
        receiptId,
        backupSuffix,
        suffix,
        sourceId,
        agentId: entry.agentId,
        ...place,
        recordedAt,
      });
    });
    written += batch.length;
    size = (places.at(-1)?.logIndex ?? -1) + 1;
    batch = [];
  }
  for (const connection of connections) connection.release();
  await createIndexes(pool, indexes);
  await finish(pool, orgId);
  const [agent] = fleet.agents;
  if (agent === undefined) throw new Error("there is no agent");
  const token = await addOwner(pool, orgId);
  return { orgId, size, token, agent, samples };
}

function suffixOf(id: string): string {
  return id.slice(id.indexOf("_") + 1);
}

async function addFleet(pool: Pool, orgId: string): Promise<Fleet> {
  const agents = Array.from({ length: AGENTS }, () => newAgent(orgId));
  const sourceIds = Array.from({ length: SOURCES }, () => newId("source"));
  for (const [n, { id, publicKey, keyFingerprint, token }] of agents.entries())
    await pool.query(
      `insert into agents (id, org_id, name, hostname, platform, agent_version, public_key, key_fingerprint, token_sha256, last_seen_at)
       values ($1, $2, 'host-' || $3::text, 'host.example.org', 'linux-x64', '0.1.0', $4, $5, $6, now() + interval '1 hour')`,
      [id, orgId, n, Buffer.from(publicKey), keyFingerprint, createHash("sha256").update(token).digest()],
    );
  await pool.query(
    `insert into sources (id, org_id, slug, name, engine, agent_id, objectives, last_backup_at, last_proven_at)
     select id, $1, 'database-' || n, 'database-' || n, 'postgresql', ($3::text[])[1 + (n - 1) % ${AGENTS}],
       '{"rpo_s": 172800, "rto_s": 3600}', now(), now()
     from unnest($2::text[]) with ordinality as made (id, n)`,
    [orgId, sourceIds, agents.map(({ id }) => id)],
  );
  return { orgId, agents, sourceIds };
}

function newAgent(orgId: string): TestAgent {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const raw = new Uint8Array(Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url"));
  return {
    id: newId("agent"),
    orgId,
    publicKey: raw,
    keyFingerprint: sshFingerprint(publicKeyFromBytes(raw)),
    token: `ats_${randomBytes(32).toString("base64url")}`,
    privateKey,
  };
}

async function addOwner(pool: Pool, orgId: string): Promise<string> {
  const userId = newId("user");
  await pool.query(
    "insert into users (id, org_id, email, role) values ($1, $2, $1 || '@example.org', 'owner')",
    [userId, orgId],
  );
  return addSession(pool, userId);
}

export async function addSession(pool: Pool, userId: string): Promise<string> {
  const token = `atss_${randomBytes(32).toString("base64url")}`;
  await pool.query(
    "insert into sessions (token_sha256, user_id, expires_at, signed_in_with) values ($1, $2, now() + interval '1 day', 'passkey')",
    [createHash("sha256").update(token).digest(), userId],
  );
  return token;
}

/** Gives their places in the log: the service may append events of its own between two batches. */
async function write(
  [client, other]: readonly [PoolClient, PoolClient],
  orgId: string,
  batch: readonly MadeReceipt[],
): Promise<{ logIndex: number; leafHash: string }[]> {
  const others = writeOthers(other, orgId, batch);
  const session = clientSession(client);
  await client.query("begin; set local synchronous_commit = off");
  const locked = await lockLogs(session, new Set([orgId]));
  const log = locked.get(orgId);
  if (log === undefined || log instanceof LogCorruption) throw new Error("no sound log");
  const grown = new LogAppends(new Map<string, LockedLog>([[orgId, log]]));
  const { growth } = grown.log(orgId);
  // As if each had come alone: a head each, but for the last, which is written with the log.
  const heads: { size: number; root: Uint8Array }[] = [];
  const placed = batch.map(({ entry }) => {
    if (growth.size > growth.sizeBefore) heads.push({ size: growth.size, root: growth.root() });
    return { entry, ...grown.append(orgId, entry.leaf) };
  });
  const now = batch.at(-1)?.entry.recordedAt ?? new Date();
  await Promise.all([
    insertReceipts(session, placed),
    recordDays(session, placed),
    ...grown.write(session, await grown.completeTiles(session), now),
  ]);
  await client.query(
    `insert into log_heads (org_id, tree_size, root_hash, recorded_at)
     select $1, size, substring($3::bytea from n::int * 32 - 31 for 32), $4
     from unnest($2::bigint[]) with ordinality as heads (size, n)`,
    [orgId, plainArray(heads.map(({ size }) => size)), packHashes(heads.map(({ root }) => root)), now],
  );
  await client.query("commit");
  await others;
  return placed.map(({ logIndex, leafHash }) => ({
    logIndex,
    leafHash: Buffer.from(leafHash).toString("hex"),
  }));
}

/**
 * A backup with its upload and its command; of each second receipt the API log's row, and of each
 * twentieth an event.
 */
async function writeOthers(client: PoolClient, orgId: string, batch: readonly MadeReceipt[]): Promise<void> {
  const made = batch.filter(({ entry }) => entry.kind === "backup");
  const backups = [
    orgId,
    made.map(({ backupSuffix }) => backupSuffix),
    made.map(({ sourceId }) => sourceId),
    made.map(({ agent }) => agent.id),
    made.map(({ entry }) => entry.recordedAt),
  ];
  const all = [
    orgId,
    batch.map(({ entry }) => suffixOf(entry.id)),
    batch.map(({ sourceId }) => sourceId),
    batch.map(({ agent }) => agent.id),
    batch.map(({ entry }) => entry.recordedAt),
  ];
  await client.query("begin; set local synchronous_commit = off");
  const rows =
    "unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[]) with ordinality as made (suffix, source_id, agent_id, at, n)";
  await client.query(
    `insert into commands (id, org_id, source_id, agent_id, kind, status, attempts, issued_by, created_at, outcome)
     select 'cmd_' || suffix, $1, source_id, agent_id, 'backup', 'acked', 1, 'schedule', at, jsonb_build_object('backup_id', 'bkp_' || suffix) from ${rows}`,
    backups,
  );
  await client.query(
    `insert into uploads (id, org_id, source_id, agent_id, object_key, sha256, size_bytes, created_at, expires_at)
     select 'upl_' || suffix, $1, source_id, agent_id, suffix, sha256(suffix::bytea), 1000000, at, at from ${rows}`,
    backups,
  );
  await client.query(
    `insert into backups (id, org_id, source_id, agent_id, upload_id, object_key, sha256, size_bytes, cipher, source_metadata, made_at,
       created_at, proven_at, status, command_id, object_removed_at, removal_due_at)
     select 'bkp_' || suffix, $1, source_id, agent_id, 'upl_' || suffix, suffix, sha256(suffix::bytea), 1000000,
       '{"name": "age-v1", "recipients": ["age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"]}',
       '{"engine": "postgresql", "engine_version": "15.14", "dump_format": "pg_dump-custom", "schema_hash": "ab"}', at, at, at,
       case when at < now() - interval '90 days' then 'expired' else 'available' end, 'cmd_' || suffix,
       case when at < now() - interval '90 days' then now() end, case when at < now() - interval '90 days' then now() end from ${rows}`,
    backups,
  );
  await client.query(
    `insert into events (id, org_id, kind, source_id, actor_id, occurred_at, body, log_index, leaf_hash, created_at)
     select 'evt_' || suffix, $1, case n % 60 when 1 then 'backup_failed' else 'restore_failed' end, source_id, agent_id, at, '{}', 0,
       sha256(suffix::bytea), at from ${rows} where n % 20 = 1`,
    all,
  );
  await client.query(
    `insert into api_logs (id, org_id, actor_kind, actor_id, method, route, path, status, duration_ms, address, request_id, created_at)
     select 'log_' || suffix, $1, 'agent', agent_id, 'POST', '/v1/receipts', '/v1/receipts', case n % 500 when 7 then 422 else 201 end, 5,
       '127.0.0.1', 'req_' || suffix, at from ${rows} where n % 2 = 1 and at > now() - interval '1 millisecond' * ${API_LOG_MS}`,
    all,
  );
  await client.query("commit");
}

interface Index {
  name: string;
  definition: string;
}

/**
 * Takes the indexes that no constraint needs away from the tables that grow: to build them once is
 * far less work than to keep them while millions of rows arrive.
 */
async function dropIndexes(pool: Pool): Promise<Index[]> {
  const { rows } = await pool.query<Index>(
    `select c.oid::regclass::text as name, pg_get_indexdef(c.oid) as definition
     from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = any('{receipts,log_leaves,commands,uploads,backups,events,api_logs}'::regclass[])
       and not exists (select 1 from pg_constraint where conindid = c.oid) and c.relname <> 'receipts_envelopes'`,
  );
  await pool.query(rows.map(({ name }) => `drop index ${name};`).join(""));
  return rows;
}

async function createIndexes(pool: Pool, indexes: readonly Index[]): Promise<void> {
  const client = await pool.connect();
  await client.query("set maintenance_work_mem = '512MB'");
  for (const { definition } of indexes) await client.query(definition);
  client.release(true);
}

async function finish(pool: Pool, orgId: string): Promise<void> {
  await pool.query("update orgs set public_log = true where id = $1", [orgId]);
  await pool.query("vacuum (analyze)");
}

/** Organisations with an agent and a source each. */
export async function addOrganisations(pool: Pool, count: number, like: string): Promise<void> {
  const suffixes = Array.from({ length: count }, () => suffixOf(newId("org")));
  const rows = "unnest($1::text[]) as suffix";
  const statements = [
    `insert into orgs (id, name, slug) select 'org_' || suffix, suffix, suffix from ${rows}`,
    `insert into agents (id, org_id, name, hostname, platform, agent_version, public_key, key_fingerprint, token_sha256, last_seen_at)
     select 'agent_' || suffix, 'org_' || suffix, 'host', 'host', 'linux-x64', '0.1.0', '\\x00', 'SHA256:' || suffix,
       sha256(suffix::bytea), now() + interval '1 hour' from ${rows}`,
    `insert into sources (id, org_id, slug, name, engine, agent_id)
     select 'src_' || suffix, 'org_' || suffix, 'orders', 'orders', 'postgresql', 'agent_' || suffix from ${rows}`,
  ];
  for (const statement of statements) await pool.query(statement, [suffixes]);
  await pool.query(
    `insert into logs (org_id, origin, root_hash)
     select 'org_' || suffix, replace(origin, $2, 'org_' || suffix), sha256('') from logs, ${rows} where org_id = $2`,
    [suffixes, like],
  );
  await pool.query(
    `insert into log_heads (org_id, tree_size, root_hash, recorded_at) select 'org_' || suffix, 0, sha256(''), now() from ${rows}`,
    [suffixes],
  );
}

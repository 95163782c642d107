import type { ClientBase } from "pg";
import { makeHistory } from "../../packages/dashboard/bench/make-history.ts";
import { HOSTS, SOURCES } from "./believable.ts";

/** Its host was switched off, three days ago. */
const MISSED = "wiki";
const DAYS = 90;

/**
 * Three months of an organisation that looks like one, as rows; what the real agent then adds is in
 * the log and provable.
 */
export async function demoHistory(client: ClientBase, orgId: string): Promise<{ sessionToken: string }> {
  const { sessionToken } = await makeHistory(client, orgId, { sources: SOURCES.length, days: DAYS });
  const ids = await idsOf(client, "sources", orgId);
  for (const [n, [name, engine, gib, minutes]] of SOURCES.entries()) {
    await client.query("update sources set slug = $2, name = $2, engine = $3 where id = $1", [
      ids[n],
      name,
      engine,
    ]);
    // It grows by a tenth or so in three months.
    await client.query(
      `update source_days set size_bytes = $2::float8 * (1 - 0.001 * (current_date - day) * (1 + 0.2 * sin(current_date - day))),
         restore_ms = restore_ms * $3::float8 / 75000
       where source_id = $1`,
      [ids[n], gib * 2 ** 30, minutes * 60_000],
    );
    await client.query("update backups set size_bytes = $2::float8 where source_id = $1", [
      ids[n],
      gib * 2 ** 30,
    ]);
  }
  await missDays(client, ids[SOURCES.findIndex(([name]) => name === MISSED)] ?? "");
  const agents = await idsOf(client, "agents", orgId);
  const kept = agents.slice(0, HOSTS.length);
  for (const table of ["sources", "backups", "uploads", "commands"])
    await client.query(
      `update ${table} set agent_id = ($2::text[])[1 + abs(hashtext(${table === "sources" ? "id" : "source_id"})) % $3::int] where org_id = $1`,
      [orgId, kept, kept.length],
    );
  // Done, and of most days proven: see the receipts.
  await client.query(
    `update commands set outcome = jsonb_build_object('backup_id', 'bkp_' || substr(id, 5), 'receipt_id', 'rcpt_' || substr(id, 5)),
       delivered_at = created_at + interval '20 seconds', acked_at = created_at + interval '21 seconds' where org_id = $1`,
    [orgId],
  );
  await client.query(
    `update backups set proven_at = receipts.created_at from receipts
     where backups.org_id = $1 and backup_id = backups.id and result = 'passed'`,
    [orgId],
  );
  // The log's tree holds only the real agent's entries. The newest passed test of each source stays
  // all the same, beyond the tree's end, because a source without one is not proven.
  await client.query(
    `delete from receipts where org_id = $1 and id not in (
       select distinct on (source_id) id from receipts
       where org_id = $1 and kind = 'restore_test' and result = 'passed' order by source_id, id desc)`,
    [orgId],
  );
  await client.query("update receipts set log_index = log_index + 1000000 where org_id = $1", [orgId]);
  for (const table of ["events", "log_heads", "log_emissions"])
    await client.query(`delete from ${table} where org_id = $1`, [orgId]);
  await client.query("delete from agents where org_id = $1 and id <> all($2::text[])", [orgId, kept]);
  for (const [n, host] of HOSTS.entries()) await nameAgent(client, kept[n] ?? "", host, n);
  await client.query(
    "update users set email = 'ada@harbour.example', name = 'Ada Verhoeven' where org_id = $1",
    [orgId],
  );
  return { sessionToken };
}

async function missDays(client: ClientBase, sourceId: string): Promise<void> {
  const since = "now() - interval '3 days'";
  for (const statement of [
    `update sources set last_backup_at = ${since} - interval '6 hours', last_proven_at = ${since} - interval '4 hours' where id = $1`,
    `update scheduled_runs set status = 'missed' where source_id = $1 and scheduled_at > ${since}`,
    `delete from source_days where source_id = $1 and day > (${since})::date`,
    `delete from receipts where source_id = $1 and created_at > ${since}`,
    `delete from backups where source_id = $1 and created_at > ${since}`,
  ])
    await client.query(statement, [sourceId]);
}

async function idsOf(client: ClientBase, table: "sources" | "agents", orgId: string): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `select id from ${table} where org_id = $1 order by id`,
    [orgId],
  );
  return rows.map(({ id }) => id);
}

async function nameAgent(client: ClientBase, id: string, host: string, n: number): Promise<void> {
  const kit = {
    recipient: "age1kit",
    made_at: "2026-06-01T08:00:00.000Z",
    tested_at: "2026-06-02T08:00:00.000Z",
  };
  const encryption = { recipients: ["age1host", "age1kit"], recovery_kit: n === 2 ? null : kit };
  await client.query(
    `update agents set name = $2, hostname = $2 || '.harbour.example', encryption = $3, last_seen_at = now(),
       public_key = decode(repeat('07', 32), 'hex'), key_fingerprint = 'SHA256:' || left(encode(sha256(id::bytea), 'base64'), 43)
     where id = $1`,
    [id, host, JSON.stringify(encryption)],
  );
}

import { formatLeaf } from "@attestore/proof";
import { newId } from "@attestore/contract";
import type { Pool } from "pg";
import { LogAppends } from "../../src/log/append/log-appends.ts";
import { lockLogs, type LockedLog } from "../../src/log/append/locked-log.ts";
import { LogCorruption } from "../../src/log/log-corruption.ts";
import { clientSession } from "../../src/platform/database/sql-session.ts";

/**
 * Appends leaves without entries, some thousand in one transaction: the log's own code, and nothing
 * around it.
 */
export async function appendLeaves(pool: Pool, orgId: string, count: number): Promise<void> {
  const client = await pool.connect();
  const session = clientSession(client);
  await client.query("begin");
  const locked = await lockLogs(session, new Set([orgId]));
  const log = locked.get(orgId);
  if (log === undefined || log instanceof LogCorruption) throw new Error("no sound log");
  const grown = new LogAppends(new Map<string, LockedLog>([[orgId, log]]));
  const now = new Date();
  const fields = {
    kind: "plain",
    org_id: orgId,
    id: newId("event"),
    actor_id: "service",
    recorded_at: now.toISOString(),
    body_sha256: "00".repeat(32),
  };
  const template = new TextDecoder().decode(formatLeaf(fields));
  for (let n = 0; n < count; n++) {
    const body = (log.range.size + n).toString(16).padStart(64, "0");
    grown.append(orgId, new TextEncoder().encode(template.replace("0".repeat(64), body)));
  }
  await Promise.all(grown.write(session, await grown.completeTiles(session), now));
  await client.query("commit");
  client.release();
}

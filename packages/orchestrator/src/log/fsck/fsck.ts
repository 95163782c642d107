import type { Pool, PoolClient } from "pg";
import type { LogIdentity } from "../log-keys.ts";
import { clientSession, type PreparedQuery } from "../../platform/database/sql-session.ts";
import { checkPublished } from "./check-published.ts";
import { checkLog } from "./check-log.ts";
import { checkUnlogged } from "./check-unlogged.ts";
import { noCounts, type Counts, type Finding, type Report } from "./finding.ts";

export interface FsckOptions {
  pool: Pool;
  identity: LogIdentity;
  /**
   * Called for each finding. Findings are not kept, so memory stays bounded however many there are.
   */
  onFinding: (finding: Finding) => void;
  /** Called after each log. */
  onProgress?: (counts: Readonly<Counts>) => void;
  signal?: AbortSignal;
}

export interface FsckResult {
  findings: number;
  counts: Counts;
}

/**
 * Rebuilds every tree from its leaves and compares it with everything the database says about it:
 * the log's row, every full tile, every head that may have been signed, every hourly checkpoint and
 * its signatures, and each receipt and event with its leaf. Reads one snapshot per log, so the
 * service can keep running. Rejects if the database cannot be read; findings are not errors.
 */
export async function fsck(options: FsckOptions): Promise<FsckResult> {
  const counts = noCounts();
  let findings = 0;
  const client = await options.pool.connect();
  try {
    for (let orgId = await nextOrg(client, ""); orgId !== null; orgId = await nextOrg(client, orgId)) {
      options.signal?.throwIfAborted();
      await client.query("begin isolation level repeatable read read only");
      const org = orgId;
      await checkOrg(client, options.identity, org, counts, (code, message) => {
        findings++;
        options.onFinding({ code, orgId: org, message });
      });
      await client.query("commit");
      counts.logs++;
      options.onProgress?.(counts);
    }
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
  return { findings, counts };
}

async function checkOrg(
  client: PoolClient,
  identity: LogIdentity,
  orgId: string,
  counts: Counts,
  report: Report,
): Promise<void> {
  const check = { session: clientSession(client), identity, orgId, counts, report };
  await checkLog(check);
  await checkUnlogged(check);
  await checkPublished(check);
}

// Includes logs that do not exist but have rows in other tables.
const NEXT_ORG: PreparedQuery = {
  name: "fsck_next_org",
  text: `select min(id) as id from (
      (select min(id) as id from orgs where id > $1)
      union all (select min(org_id) from logs where org_id > $1)
      union all (select min(org_id) from log_leaves where org_id > $1)
      union all (select min(org_id) from log_tiles where org_id > $1)
      union all (select min(org_id) from log_heads where org_id > $1)
      union all (select min(org_id) from log_emissions where org_id > $1)
      union all (select min(org_id) from receipts where org_id > $1)
      union all (select min(org_id) from events where org_id > $1)) as known`,
};

async function nextOrg(client: PoolClient, after: string): Promise<string | null> {
  const [row] = await clientSession(client).run<{ id: string | null }>(NEXT_ORG, [after]);
  return row?.id ?? null;
}

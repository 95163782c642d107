import type { Pool, PoolClient } from "pg";
import type { ServiceFiles } from "../../platform/objects/service-files.ts";
import type { LogIdentity } from "../checkpoints/log-keys.ts";
import { clientSession, type PreparedQuery } from "../../platform/database/sql-session.ts";
import { checkPublished } from "./check-published.ts";
import type { Check } from "./check.ts";
import { type KeptHead, keptHeads } from "./check-kept-heads.ts";
import { checkLog } from "./check-log.ts";
import { checkUnlogged } from "./check-unlogged.ts";
import { noCounts, type Counts, type Finding, type Report } from "./finding.ts";

export interface FsckOptions {
  pool: Pool;
  identity: LogIdentity;
  /** Where archived envelopes are; null if their receipts are not looked at. */
  files: ServiceFiles | null;
  /**
   * Signed heads that are kept outside the database, by organisation. Without it, the database is
   * compared with itself alone.
   */
  kept?: ReadonlyMap<string, readonly KeptHead[]>;
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
 * its signatures, each receipt and event with its leaf, and the log with the signed heads that are
 * kept outside the database. Reads one snapshot per log, so the
 * service can keep running. Rejects if the database cannot be read; findings are not errors.
 */
export async function fsck(options: FsckOptions): Promise<FsckResult> {
  const counts = noCounts();
  let findings = 0;
  const { kept } = options;
  const unknown = new Set(kept?.keys());
  const client = await options.pool.connect();
  try {
    for (let orgId = await nextOrg(client, ""); orgId !== null; orgId = await nextOrg(client, orgId)) {
      options.signal?.throwIfAborted();
      await client.query("begin isolation level repeatable read read only");
      const org = orgId;
      unknown.delete(org);
      const report: Report = (code, message) => {
        findings++;
        options.onFinding({ code, orgId: org, message });
      };
      await checkOrg(
        {
          session: clientSession(client),
          files: options.files,
          identity: options.identity,
          orgId,
          counts,
          report,
        },
        kept,
      );
      await client.query("commit");
      counts.logs++;
      options.onProgress?.(counts);
    }
    for (const orgId of unknown) {
      findings++;
      const message = "heads of its log were signed, but the database does not know it";
      options.onFinding({ code: "signed_head", orgId, message });
    }
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
  return { findings, counts };
}

async function checkOrg(check: Check, kept: FsckOptions["kept"]): Promise<void> {
  await checkLog(check, kept === undefined ? [] : await keptHeads(check, kept));
  await checkUnlogged(check);
  await checkPublished(check);
}

// Includes logs that do not exist but have rows in other tables. Those that an engine may spread
// over machines have a statement of their own.
const NEXT_ORG: readonly PreparedQuery[] = [
  {
    name: "fsck_next_org",
    text: `select min(id) as id from (
        (select min(id) as id from orgs where id > $1)
        union all (select min(org_id) from logs where org_id > $1)
        union all (select min(org_id) from log_heads where org_id > $1)
        union all (select min(org_id) from log_emissions where org_id > $1)) as known`,
  },
  {
    name: "fsck_next_org_spread",
    text: `select min(id) as id from (
        (select min(org_id) as id from log_leaves where org_id > $1)
        union all (select min(org_id) from log_tiles where org_id > $1)
        union all (select min(org_id) from receipts where org_id > $1)
        union all (select min(org_id) from events where org_id > $1)) as known`,
  },
];

async function nextOrg(client: PoolClient, after: string): Promise<string | null> {
  const session = clientSession(client);
  const found: string[] = [];
  for (const query of NEXT_ORG)
    for (const { id } of await session.run<{ id: string | null }>(query, [after]))
      if (id !== null) found.push(id);
  return found.toSorted()[0] ?? null;
}

import { plural } from "@attestore/proof";
import type { Pool } from "pg";
import { checkHead } from "../../log/fsck/check-head.ts";
import type { LogIdentity } from "../../log/checkpoints/log-keys.ts";
import { failed, type Finding, ok, warning } from "@attestore/host/finding";

const HOUR_MS = 3_600_000;

/**
 * The end of every log: its row, its newest head, and the newest head that was signed.
 * `attestore-server fsck` checks the whole log.
 */
export async function examineHeads(
  pool: Pool,
  identity: LogIdentity,
  isServing: boolean,
): Promise<Finding[]> {
  const { rows } = await pool.query<{ org_id: string }>("select org_id from logs order by org_id");
  const findings: Finding[] = [];
  let entries = 0;
  let oldest = Number.POSITIVE_INFINITY;
  for (const { org_id } of rows) {
    const head = await checkHead(pool, identity, org_id);
    entries += head.size;
    oldest = Math.min(oldest, head.emittedAt?.getTime() ?? Number.POSITIVE_INFINITY);
    for (const problem of head.problems)
      findings.push(
        failed(
          "log",
          `${org_id}: ${problem}.`,
          "Run attestore-server fsck. Restore the database from a backup, and keep the damaged one.",
        ),
      );
  }
  if (findings.length > 0) return findings;
  if (isServing && oldest < Date.now() - 2 * HOUR_MS)
    return [
      warning(
        "log",
        `A log's newest hourly head is from ${new Date(oldest).toISOString()}.`,
        "See the service's log: heads are signed every hour.",
      ),
    ];
  return [
    ok(
      "log",
      `The heads of ${plural(rows.length, "log")} with ${plural(entries, "entry", "entries")} match, and their signatures are valid.`,
    ),
  ];
}

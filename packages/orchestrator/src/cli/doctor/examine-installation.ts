import { plural } from "@attestore/proof";
import { join } from "node:path";
import type { Pool } from "pg";
import { comparePair, type DatabaseOfLogs } from "../../features/installation/pairing.ts";
import { readQuarantine } from "../../features/retention/quarantine.ts";
import { readSweep } from "../../features/retention/sweep-report.ts";
import { findMissingHeads, leftOfEnded } from "../../log/heads/missing-heads.ts";
import { readSignedHeads } from "../../log/checkpoints/signed-heads.ts";
import type { Config } from "../../platform/config/read-config.ts";
import type { Database } from "../../platform/database/schema.ts";
import { silentLogger } from "../../platform/logging/logger.ts";
import { objectStore } from "../../service/open-objects.ts";
import { failed, type Finding, ok, skipped, warning } from "@attestore/host/finding";

/**
 * Whether the objects belong to the database, whether it was set back, and what the sweep found.
 */
export async function examineInstallation(config: Config, pool: Pool, db: Database): Promise<Finding[]> {
  const objects = objectStore(config, Buffer.alloc(32), silentLogger);
  return [
    await examinePair({ db, pool }, objects),
    ...(await examineSignedHeads(config, pool)),
    ...(await examineQuarantine(db, objects)),
  ];
}

async function examinePair(
  database: DatabaseOfLogs,
  objects: ReturnType<typeof objectStore>,
): Promise<Finding> {
  const { pairing } = await comparePair(database, objects);
  switch (pairing.is) {
    case "paired":
      return ok("installation", "The objects belong to this database.");
    case "new":
      return skipped(
        "installation",
        "The objects and the database are not paired yet: the next start pairs them.",
      );
    case "held":
      return failed(
        "installation",
        `Nothing is deleted: ${pairing.message}`,
        "Correct DATABASE_URL, ATTESTORE_DATA or ATTESTORE_S3_BUCKET, or see attestore-server objects adopt.",
      );
  }
}

async function examineSignedHeads(config: Config, pool: Pool): Promise<Finding[]> {
  const signed = [...(await readSignedHeads(join(config.data, "signed-heads"))).values()];
  const absent = await findMissingHeads(pool, signed);
  const ended = await leftOfEnded(pool, absent);
  const missing = absent.filter((head) => !ended.has(head));
  const { rows } = await pool.query<{ org_id: string }>(
    "select org_id from logs where missing_head_size is not null order by org_id",
  );
  if (missing.length === 0 && rows.length === 0)
    return (
      (await examineHolds(pool)) ?? [
        ok(
          "heads",
          `The database has the newest heads that were signed here, of ${plural(signed.length, "log")}.`,
        ),
      ]
    );
  return [
    failed(
      "heads",
      `The database was set back: it lacks signed heads of ${plural(Math.max(missing.length, rows.length), "log")}, which are now read-only.`,
      'attestore-server log lost says what is missing. Restore the newest database; docs/operate.md, "A database that was set back".',
    ),
  ];
}

/** Null unless logs take nothing because they were restored. */
async function examineHolds(pool: Pool): Promise<Finding[] | null> {
  const { rows } = await pool.query<{ held: number }>(
    "select count(*)::int as held from logs where held_until > clock_timestamp()",
  );
  const held = rows[0]?.held ?? 0;
  if (held === 0) return null;
  return [
    warning(
      "heads",
      `${plural(held, "log was", "logs were")} restored from a backup and ${held === 1 ? "takes" : "take"} nothing yet: first the agents say which heads they hold.`,
      "Let the service run for three heartbeat intervals without a break.",
    ),
  ];
}

async function examineQuarantine(db: Database, objects: ReturnType<typeof objectStore>): Promise<Finding[]> {
  const sweep = await readSweep(db);
  if (sweep?.stopped === true)
    return [
      failed(
        "quarantine",
        `The sweep of ${sweep.at.toISOString()} was stopped: the database does not know ${sweep.taken} of ${plural(sweep.objects, "object")}.`,
        "Check that it is the right database; attestore-server objects sweep shows more.",
      ),
    ];
  const { size } = await readQuarantine(objects.notes);
  return size === 0
    ? [ok("quarantine", "No object is in quarantine.")]
    : [
        warning(
          "quarantine",
          `In quarantine because the database does not know ${size === 1 ? "it" : "them"}: ${plural(size, "object")}.`,
          "attestore-server objects quarantine lists them; put-back keeps them.",
        ),
      ];
}

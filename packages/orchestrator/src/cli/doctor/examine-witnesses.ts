import { type Finding, warning } from "@attestore/host/finding";
import type { Pool } from "pg";
import { findUnwitnessedLogs, WITNESSED_WITHIN } from "../../log/witnesses/unwitnessed-logs.ts";

const NAMED = 10;

/**
 * Which organisations' logs no agent has cosigned lately. Says nothing if all are, or have no
 * agents.
 */
export async function examineWitnesses(pool: Pool): Promise<Finding[]> {
  const found = await findUnwitnessedLogs(pool);
  if (found.length === 0) return [];
  const { rows } = await pool.query<{ slug: string }>(
    "select slug from orgs where id = any($1) order by slug limit $2",
    [found, NAMED],
  );
  const more = found.length - rows.length;
  const names = [...rows.map(({ slug }) => slug), ...(more > 0 ? [`${more} more`] : [])].join(", ");
  return [
    warning(
      "witness",
      `No agent has cosigned the log as it was ${WITNESSED_WITHIN} ago, of: ${names}.`,
      "docs/runbooks/witness-missing.md",
    ),
  ];
}

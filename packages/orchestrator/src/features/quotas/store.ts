import type { ChangeQuotasRequest, QuotaName } from "@attestore/contract";
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import type { QuotaDefaults } from "./settings.ts";

/** How much of each an organisation uses. */
export type Usage = Record<QuotaName, number>;

/** Null for no limit. */
export type Limits = Record<QuotaName | "requests", number | null>;

/** How the column stores an operator's `null`. */
const NO_LIMIT = -1;

export async function readLimits(db: Database, orgId: string, defaults: QuotaDefaults): Promise<Limits> {
  const row = await db
    .selectFrom("org_quotas")
    .select(["bytes", "objects", "agents", "requests"])
    .where("org_id", "=", orgId)
    .executeTakeFirst();
  const of = (name: keyof Limits): number | null => limitOf(row?.[name] ?? null, defaults[name]);
  return { bytes: of("bytes"), objects: of("objects"), agents: of("agents"), requests: of("requests") };
}

/** Reads a column, where null stands for the service's own limit. */
export function limitOf(set: number | null, otherwise: number | null): number | null {
  if (set === null) return otherwise;
  return set === NO_LIMIT ? null : set;
}

export async function changeLimits(
  tx: DatabaseTransaction,
  orgId: string,
  change: ChangeQuotasRequest,
): Promise<void> {
  const written = (value: number | null | "default"): number | null =>
    value === "default" ? null : (value ?? NO_LIMIT);
  const columns = Object.fromEntries(
    Object.entries(change).map(([name, value]) => [name, written(value)] as const),
  );
  await tx
    .insertInto("org_quotas")
    .values({ org_id: orgId, ...columns })
    .onConflict((conflict) => conflict.column("org_id").doUpdateSet(columns))
    .execute();
}

/**
 * An upload counts from the request for its URL until it is forgotten (see
 * backups/abandoned-uploads.ts) or, if it was registered, until the object is gone from the store.
 */
export async function readUsage(db: Database, orgId: string): Promise<Usage> {
  const { rows } = await sql<Usage>`
    select coalesce(sum(bytes), 0)::bigint as bytes, coalesce(sum(objects), 0)::bigint as objects,
      (select count(*) from agents where agents.org_id = ${orgId} and status = 'active') as agents
    from org_usage where org_usage.org_id = ${orgId}`.execute(db);
  return rows[0] ?? { bytes: 0, objects: 0, agents: 0 };
}

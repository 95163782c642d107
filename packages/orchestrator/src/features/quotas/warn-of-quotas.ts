import type { QuotaName } from "@attestore/contract";
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { runInOrg } from "../../platform/database/org-scope.ts";
import { eachOf } from "../../platform/jobs/each-of.ts";
import type { Job, JobContext } from "../../platform/jobs/job.ts";
import { queueNotification } from "../notification-queue/queue-notification.ts";
import { lockOrg } from "../orgs/lock-org.ts";
import type { QuotaDefaults } from "./settings.ts";
import { readLimits, readUsage, type Usage } from "./store.ts";

/**
 * Percent of a quota at which the organisation is warned. It is warned once, until less than LOW
 * percent is used again.
 */
const TOLD_AT = [80, 100] as const;
const LOW = 75;
const NAMES: readonly QuotaName[] = ["bytes", "objects", "agents"];

interface Deps {
  db: Database;
  quotas: QuotaDefaults;
}

export function quotaJob(deps: Deps): Job {
  return { name: "tell_quotas", every_s: 300, run: (context) => notifyQuotas(deps, context) };
}

/** Warns each organisation about quotas that are nearly or completely used. */
export async function notifyQuotas(
  { db, quotas }: Deps,
  { now, signal }: Pick<JobContext, "now" | "signal">,
): Promise<void> {
  await eachOf(await limitedOrgs(db, quotas), signal, async (orgId) => {
    await runInOrg(db, orgId, async (tx) => {
      await lockOrg(tx, orgId);
      await notifyOrg(tx, orgId, quotas, now);
    });
  });
}

/**
 * Organisations that may need a warning: they use more than a share of a quota, or did when they
 * were last warned.
 */
async function limitedOrgs(db: Database, quotas: QuotaDefaults): Promise<string[]> {
  const limit = (name: QuotaName) =>
    sql`nullif(coalesce(${sql.ref(`own.${name}`)}, ${quotas[name]}::bigint), -1) * ${LOW / 100}::float8`;
  const { rows } = await sql<{ id: string }>`
    select orgs.id from orgs
    left join org_quotas as own on own.org_id = orgs.id
    left join org_usage as used on used.org_id = orgs.id
    left join (select org_id, count(*) as agents from agents where status = 'active' group by org_id) as attached
      on attached.org_id = orgs.id
    where used.bytes >= ${limit("bytes")} or used.objects >= ${limit("objects")} or attached.agents >= ${limit("agents")}
      or warned <> '{}'
    order by orgs.id`.execute(db);
  return rows.map(({ id }) => id);
}

async function notifyOrg(
  tx: DatabaseTransaction,
  orgId: string,
  quotas: QuotaDefaults,
  now: Date,
): Promise<void> {
  const limits = await readLimits(tx, orgId, quotas);
  const used = await readUsage(tx, orgId);
  const before = await readWarned(tx, orgId);
  const warned: Partial<Usage> = {};
  for (const name of NAMES) {
    const limit = limits[name];
    if (limit === null) continue;
    const percent = limit === 0 ? (used[name] > 0 ? 100 : 0) : Math.floor((used[name] / limit) * 100);
    const told = before[name] ?? 0;
    const reached = Math.max(0, ...TOLD_AT.filter((at) => percent >= at));
    if (reached > told) await notify(tx, orgId, { name, used: used[name], limit, percent }, now);
    const stands = percent < LOW ? 0 : Math.max(told, reached);
    if (stands > 0) warned[name] = stands;
  }
  if (JSON.stringify(warned) === JSON.stringify(before)) return;
  await tx
    .insertInto("org_quotas")
    .values({ org_id: orgId, warned: JSON.stringify(warned) })
    .onConflict((conflict) => conflict.column("org_id").doUpdateSet({ warned: JSON.stringify(warned) }))
    .execute();
}

async function readWarned(tx: DatabaseTransaction, orgId: string): Promise<Partial<Usage>> {
  const row = await tx
    .selectFrom("org_quotas")
    .select("warned")
    .where("org_id", "=", orgId)
    .executeTakeFirst();
  return row?.warned ?? {};
}

async function notify(
  tx: DatabaseTransaction,
  orgId: string,
  quota: { name: QuotaName; used: number; limit: number; percent: number },
  now: Date,
): Promise<void> {
  const org = await tx
    .selectFrom("orgs")
    .select(["id", "name"])
    .where("id", "=", orgId)
    .executeTakeFirstOrThrow();
  await queueNotification(tx, {
    orgId,
    key: `quota ${quota.name} ${now.toISOString()}`,
    type: "quota.reached",
    occurredAt: now,
    data: { org, quota },
  });
}

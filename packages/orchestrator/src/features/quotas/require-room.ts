import type { QuotaName } from "@attestore/contract";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { ApiError } from "../../platform/errors/api-error.ts";
import { lockOrg } from "../orgs/lock-org.ts";
import type { QuotaDefaults } from "./settings.ts";
import { readLimits, readUsage, type Usage } from "./store.ts";

/**
 * Checks whether one more object of that size fits the organisation's quotas now. Another may take
 * the room meanwhile: `reserveRoom` decides. Throws `quota_exceeded`.
 */
export async function requireRoom(
  db: Database,
  defaults: QuotaDefaults,
  orgId: string,
  bytes: number,
): Promise<void> {
  await requireWithinQuotas(db, defaults, orgId, { bytes, objects: 1, agents: 0 });
}

/**
 * The same in the transaction that records the upload. It locks the organisation's row first, so
 * that each of several uploads at once, on any replica, sees the space that the ones before it
 * took. Throws `quota_exceeded`.
 */
export async function reserveRoom(
  tx: DatabaseTransaction,
  defaults: QuotaDefaults,
  orgId: string,
  bytes: number,
): Promise<void> {
  await lockOrg(tx, orgId);
  await requireWithinQuotas(tx, defaults, orgId, { bytes, objects: 1, agents: 0 });
}

/** The same for one more agent. Throws `quota_exceeded`. */
export async function reserveAgent(
  tx: DatabaseTransaction,
  defaults: QuotaDefaults,
  orgId: string,
): Promise<void> {
  await lockOrg(tx, orgId);
  await requireWithinQuotas(tx, defaults, orgId, { bytes: 0, objects: 0, agents: 1 });
}

async function requireWithinQuotas(
  db: Database,
  defaults: QuotaDefaults,
  orgId: string,
  more: Usage,
): Promise<void> {
  const limits = await readLimits(db, orgId, defaults);
  const names = (["bytes", "objects", "agents"] as const).filter(
    (name) => more[name] > 0 && limits[name] !== null,
  );
  if (names.length === 0) return;
  const used = await readUsage(db, orgId);
  for (const name of names) {
    const limit = limits[name];
    if (limit !== null && used[name] + more[name] > limit)
      throw exceeded(name, { limit, used: used[name], asked: more[name] });
  }
}

const MESSAGES: Readonly<
  Record<QuotaName, (quota: { limit: number; used: number; asked: number }) => string>
> = {
  bytes: ({ limit, used, asked }) =>
    `The organisation's quota of bytes has no room for this backup of ${asked}: ${used} of ${limit} are stored or being uploaded. ` +
    "Keep fewer backups by the sources' retention rules, or ask the operator of the service for more.",
  objects: ({ limit, used }) =>
    `The organisation's quota of backups is used up: ${used} of ${limit} are stored or being uploaded. ` +
    "Keep fewer by the sources' retention rules, or ask the operator of the service for more.",
  agents: ({ limit, used }) =>
    `The organisation's quota of agents is used up: it has ${used} of ${limit}. Revoke one that is not used, or ask the operator of the service for more.`,
};

function exceeded(quota: QuotaName, numbers: { limit: number; used: number; asked: number }): ApiError {
  return new ApiError("quota_exceeded", MESSAGES[quota](numbers), { quota, ...numbers });
}

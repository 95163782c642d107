import { appendInTransaction } from "../../log/append-in-transaction.ts";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { eachOf } from "../../platform/jobs/each-of.ts";
import type { JobContext } from "../../platform/jobs/job.ts";
import { timeZoneOf } from "../schedules/next-times.ts";
import { findConfigured } from "../sources/configured.ts";
import { lockSourceAndLog } from "../sources/lock-source.ts";
import { planRetention } from "./plan.ts";
import { byTime } from "./rules.ts";
import type { RetentionDeps } from "./settings.ts";
import { listAvailable, listNeeded, listRetained, setExpired } from "./store.ts";

const PAGE = 200;
/** Backups in one transaction, which holds the organisation's log. */
const MAX_AT_ONCE = 100;

/**
 * Expires what the rules let go of, oldest first. The row and the log's entry commit together, and only then is the object touched (see
 * remove-objects.ts): after a crash in between the object is still there, and the row says that it goes.
 */
export async function expireBackups(
  deps: RetentionDeps,
  { now, signal }: Pick<JobContext, "now" | "signal">,
): Promise<void> {
  await eachOf(retained(deps.db), signal, async ({ id, org_id }) => {
    let expired = MAX_AT_ONCE;
    while (expired === MAX_AT_ONCE && !signal.aborted) {
      expired = await deps.db
        .transaction()
        .execute((tx) => expireSome(tx, { orgId: org_id, sourceId: id }, now));
      if (expired > 0) deps.logger.info({ source_id: id, expired }, "backups expired by their retention");
    }
  });
}

/** Every source that has rules, a page at a time. */
async function* retained(db: Database): AsyncGenerator<{ id: string; org_id: string }> {
  for (let after = ""; ;) {
    const page = await listRetained(db, after, PAGE);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.id;
  }
}

/**
 * Everything is read after the two locks: no command for one of these backups can be queued meanwhile, and no receipt that proves one can be
 * appended.
 */
async function expireSome(
  tx: DatabaseTransaction,
  { orgId, sourceId }: { orgId: string; sourceId: string },
  now: Date,
): Promise<number> {
  await lockSourceAndLog(tx, { orgId, sourceId });
  const source = await findConfigured(tx, orgId, sourceId);
  if (source === null) return 0;
  const decisions = planRetention({
    backups: await listAvailable(tx, sourceId),
    rules: source.retention,
    zone: timeZoneOf(source.schedule),
    needed: await listNeeded(tx, sourceId, now),
  });
  const going = decisions
    .filter(({ reasons }) => reasons.length === 0)
    .map(({ backup }) => backup)
    .toSorted(byTime)
    .slice(0, MAX_AT_ONCE);
  if (going.length === 0) return 0;
  const expired = await setExpired(
    tx,
    going.map(({ id }) => id),
    now,
  );
  await appendInTransaction(
    tx,
    expired.map(({ id, sha256, made_at }) => ({
      orgId,
      kind: "backup_expired",
      sourceId,
      backupId: id,
      actorId: "service",
      occurredAt: now,
      detail: {
        sha256: sha256.toString("hex"),
        created_at: made_at.toISOString(),
        retention: source.retention ?? {},
      },
    })),
  );
  return expired.length;
}

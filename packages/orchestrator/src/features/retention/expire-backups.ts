import { appendInTransaction } from "../../log/events/append-in-transaction.ts";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { runInOrg } from "../../platform/database/org-scope.ts";
import { eachOf } from "../../platform/jobs/each-of.ts";
import type { JobContext } from "../../platform/jobs/job.ts";
import { timeZoneOf } from "../schedules/next-times.ts";
import { findConfigured } from "../sources/configured-source.ts";
import { lockSourceAndLog } from "../sources/lock-source.ts";
import { readHold, setHeld } from "./hold-store.ts";
import { type Candidate, planRetention } from "./plan.ts";
import { byTime } from "./keep-rules.ts";
import type { RetentionDeps } from "./deps.ts";
import {
  clearAnnounced,
  listAvailable,
  listNeeded,
  listRetained,
  setAnnounced,
  setExpired,
} from "./store.ts";
import { suddenChange } from "./sudden-change.ts";
import { notifyRemovals } from "./notify-removals.ts";

const PAGE = 200;
/** Backups in one transaction, which locks the organisation's log. */
const MAX_AT_ONCE = 100;

/**
 * Announces the removal of backups that the rules no longer keep, and expires those that were
 * announced long enough ago and mailed, oldest first. The row and the log entry commit together,
 * and only then is the object touched (see remove-objects.ts). After a crash in between, the object
 * still exists and the row says that it goes.
 */
export async function expireBackups(
  deps: RetentionDeps,
  { now, signal }: Pick<JobContext, "now" | "signal">,
): Promise<void> {
  await eachOf(retained(deps.db), signal, async ({ id, org_id }) => {
    let done: Done = { isMore: true };
    while (done.isMore && !signal.aborted) {
      done = await runInOrg(deps.db, org_id, (tx) =>
        passOver(tx, { orgId: org_id, sourceId: id }, now, deps.retentionDelay_s),
      );
      if (done.told !== undefined)
        deps.logger[done.told.level]({ source_id: id, ...done.told.fields }, done.told.text);
    }
  });
  await notifyRemovals(deps.db, { now, signal });
}

interface Done {
  isMore: boolean;
  told?: { level: "info" | "warn"; fields: object; text: string };
}

/** Every source that has rules, one page at a time. */
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
 * Everything is read after the two locks: meanwhile no command for one of these backups can be
 * queued, nobody can keep one, and no receipt that proves one can be appended.
 */
async function passOver(
  tx: DatabaseTransaction,
  { orgId, sourceId }: { orgId: string; sourceId: string },
  now: Date,
  delay_s: number,
): Promise<Done> {
  await lockSourceAndLog(tx, { orgId, sourceId });
  const source = await findConfigured(tx, orgId, sourceId);
  if (source === null) return { isMore: false };
  const { held, accepted } = await readHold(tx, sourceId);
  if (held !== null) return { isMore: false };
  const backups = await listAvailable(tx, sourceId);
  const decisions = planRetention({
    backups,
    rules: source.retention,
    zone: timeZoneOf(source.schedule),
    needed: await listNeeded(tx, sourceId, now),
  });
  const going = decisions.filter(({ reasons }) => reasons.length === 0).map(({ backup }) => backup);
  const log = (kind: string, of: readonly Candidate[], detail: (backup: Candidate) => object) =>
    appendInTransaction(
      tx,
      of.map((backup) => ({
        orgId,
        kind,
        sourceId,
        backupId: backup.id,
        actorId: "service",
        occurredAt: now,
        detail: {
          sha256: backup.sha256.toString("hex"),
          created_at: backup.madeAt.toISOString(),
          ...detail(backup),
        },
      })),
    );

  const hold = suddenChange({ backups, going }, accepted, now);
  if (hold !== null) {
    await setHeld(tx, sourceId, hold, now);
    await appendInTransaction(tx, [
      {
        orgId,
        kind: "retention_held",
        sourceId,
        actorId: "service",
        occurredAt: now,
        detail: { ...hold, backups: going.length },
      },
    ]);
    return {
      isMore: false,
      told: {
        level: "warn",
        fields: hold,
        text: "retention stopped, because the source's backups changed suddenly",
      },
    };
  }

  const goingIds = new Set(going.map(({ id }) => id));
  const spared = backups
    .filter(({ id, expiresAt }) => expiresAt !== null && !goingIds.has(id))
    .slice(0, MAX_AT_ONCE);
  if (spared.length > 0) {
    await clearAnnounced(tx, idsOf(spared));
    await log("backup_removal_withdrawn", spared, () => ({}));
    return { isMore: true };
  }
  const due = going
    .filter(({ expiresAt, toldAt }) => expiresAt !== null && expiresAt <= now && toldAt !== null)
    .toSorted(byTime)
    .slice(0, MAX_AT_ONCE);
  if (due.length > 0) {
    await setExpired(tx, idsOf(due), now);
    await log("backup_expired", due, () => ({ retention: source.retention ?? {} }));
    return {
      isMore: true,
      told: { level: "info", fields: { expired: due.length }, text: "retention removed backups" },
    };
  }
  const fresh = going
    .filter(({ expiresAt }) => expiresAt === null)
    .toSorted(byTime)
    .slice(0, MAX_AT_ONCE);
  if (fresh.length === 0) return { isMore: false };
  const expiresAt = new Date(now.getTime() + delay_s * 1000);
  await setAnnounced(tx, idsOf(fresh), expiresAt);
  await log("backup_expiring", fresh, () => ({
    expires_at: expiresAt.toISOString(),
    retention: source.retention ?? {},
  }));
  return {
    isMore: true,
    told: { level: "info", fields: { announced: fresh.length }, text: "removal of backups announced" },
  };
}

const idsOf = (backups: readonly Candidate[]): string[] => backups.map(({ id }) => id);

import { appendInTransaction } from "../../log/events/append-in-transaction.ts";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { ApiError, notFound } from "../../platform/errors/api-error.ts";
import { type Backup, BACKUP_COLUMNS, findBackup } from "../backups/store.ts";
import { loggedActor } from "../logged-actor.ts";
import { lockSourceAndLog } from "../sources/lock-source.ts";

interface Asked {
  orgId: string;
  backupId: string;
  actorId: string;
}

/**
 * Keeps this backup, whatever the rules say, until it is released. Throws `not_found`, and
 * `conflict` if it has expired.
 */
export function keepBackup(tx: DatabaseTransaction, asked: Asked, now: Date): Promise<Backup> {
  return setKept(tx, asked, { now, isKept: true });
}

/**
 * Lets the rules decide about this backup again. If none keeps it, its removal is announced again.
 * Throws what keepBackup throws.
 */
export function releaseBackup(tx: DatabaseTransaction, asked: Asked, now: Date): Promise<Backup> {
  return setKept(tx, asked, { now, isKept: false });
}

async function setKept(
  tx: DatabaseTransaction,
  { orgId, backupId, actorId }: Asked,
  { now, isKept }: { now: Date; isKept: boolean },
): Promise<Backup> {
  const known = await findBackup(tx, orgId, backupId);
  if (known === null) throw notFound("backup");
  const { source_id: sourceId } = known;
  await lockSourceAndLog(tx, { orgId, sourceId });
  const before = await findBackup(tx, orgId, backupId);
  if (before === null || before.status === "expired")
    throw new ApiError(
      "conflict",
      "This backup has expired: it is being removed. Keep another one, and check the source's retention rules.",
    );
  if ((before.kept_at !== null) === isKept) return before;
  const backup = await tx
    .updateTable("backups")
    .set(
      isKept
        ? { kept_at: now, kept_by: actorId, expires_at: null, removal_told_at: null }
        : { kept_at: null, kept_by: null },
    )
    .where("id", "=", backupId)
    .returning(BACKUP_COLUMNS)
    .executeTakeFirstOrThrow();
  await appendInTransaction(tx, [
    {
      orgId,
      kind: isKept ? "backup_kept" : "backup_released",
      sourceId,
      backupId,
      ...loggedActor(actorId, { sha256: backup.sha256.toString("hex") }),
      occurredAt: now,
    },
  ]);
  return backup;
}

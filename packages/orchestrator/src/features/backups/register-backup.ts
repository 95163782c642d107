import { newId, type RegisterBackupRequest } from "@attestore/contract";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { ApiError, invalidRequest, notFound } from "../../platform/errors/api-error.ts";
import { readTimestamp } from "../../platform/http/body/timestamp.ts";
import { changesSinceNewest } from "../schema-changes/stored-changes.ts";
import { linkBackup } from "../commands/link-outcome.ts";
import { requireOwnedSource } from "../sources/owned-source.ts";
import { recordBackupMade } from "../sources/record-backup-made.ts";
import { type Backup, findBackupOfUpload, insertBackup } from "./store.ts";
import { findUpload, holdUpload, type Upload } from "./upload-store.ts";
import { mismatch } from "./stored-ciphertext.ts";

interface Registrant {
  id: string;
  orgId: string;
}

/**
 * The upload that a registration is about. Throws `not_found`, `forbidden`, `already_exists`,
 * `object_mismatch`, `invalid_request`.
 */
export async function findRegistrable(
  db: Database,
  agent: Registrant,
  request: RegisterBackupRequest,
): Promise<Upload> {
  await requireOwnedSource(db, agent, request.source_id);
  const upload = await findUpload(db, agent.orgId, request.upload_id);
  if (upload === null) throw notFound("upload");
  if (upload.agent_id !== agent.id) throw new ApiError("forbidden", "Another agent made this upload.");
  if (upload.source_id !== request.source_id)
    throw invalidRequest("The upload is for another source.", [
      { path: "/source_id", message: "is not the upload's source" },
    ]);
  if (request.sha256 !== undefined && request.sha256 !== upload.sha256.toString("hex"))
    throw mismatch("The upload was announced with a different SHA-256.");
  if (request.size_bytes !== undefined && request.size_bytes !== upload.size_bytes)
    throw mismatch(`The upload was announced with ${upload.size_bytes} bytes.`);
  const registered = await findBackupOfUpload(db, upload.id);
  if (registered !== null) throw alreadyRegistered(registered);
  return upload;
}

/**
 * How long a backup may wait on its host before it is registered. One that waited longer is
 * recorded as if it had waited this long.
 */
const WAITED_AT_MOST_MS = 30 * 86_400_000;

/**
 * When a backup was made: the agent's time, but not in the future and not long ago by the service's
 * clock. It is never refused for that, because a host with a wrong clock, or one that was cut off,
 * would lose its backups. Retention doesn't use this time (see features/retention).
 */
function bounded(stated: Date, now: Date): Date {
  const earliest = new Date(now.getTime() - WAITED_AT_MOST_MS);
  if (stated > now) return now;
  return stated < earliest ? earliest : stated;
}

/**
 * Records a backup whose ciphertext is in the store. If one upload is registered twice at once, the
 * second gets `already_exists`.
 */
export async function registerBackup(
  tx: DatabaseTransaction,
  agent: Registrant,
  upload: Upload,
  request: RegisterBackupRequest,
): Promise<Backup> {
  const madeAt = bounded(readTimestamp(request.created_at, "/created_at"), new Date());
  if (!(await holdUpload(tx, upload.id))) throw notFound("upload");
  const { source_id: sourceId } = upload;
  // Locking the source's row orders its backups: each one is compared with the one whose id comes
  // before its own.
  await recordBackupMade(tx, sourceId, madeAt);
  const backupId = newId("backup");
  const { command_id: commandId } = request;
  if (commandId !== undefined) await linkBackup(tx, { commandId, agentId: agent.id, sourceId, backupId });
  const backup = await insertBackup(tx, {
    id: backupId,
    org_id: agent.orgId,
    source_id: sourceId,
    agent_id: agent.id,
    upload_id: upload.id,
    object_key: upload.object_key,
    sha256: upload.sha256,
    size_bytes: upload.size_bytes,
    cipher: JSON.stringify(request.cipher),
    source_metadata: JSON.stringify(request.source_metadata),
    schema_changes: await changesSinceNewest(tx, sourceId, request.source_metadata),
    made_at: madeAt,
    ...(commandId === undefined ? {} : { command_id: commandId }),
  });
  if (backup === null) throw alreadyRegistered(await findBackupOfUpload(tx, upload.id));
  return backup;
}

/** Names the backup, so that an agent that never got the first answer can continue. */
function alreadyRegistered(backupId: string | null): ApiError {
  return new ApiError("already_exists", "This upload is already registered.", { backup_id: backupId });
}

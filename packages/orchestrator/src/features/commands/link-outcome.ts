import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { invalidRequest } from "../../platform/errors/api-error.ts";
import { isBackupCommand, mergeOutcome } from "./store.ts";

/**
 * Links a backup to the command that asked for it. Throws `invalid_request` for any other command.
 */
export async function linkBackup(
  tx: DatabaseTransaction,
  link: { commandId: string; agentId: string; sourceId: string; backupId: string },
): Promise<void> {
  const { commandId, agentId, sourceId, backupId } = link;
  if (!(await isBackupCommand(tx, { id: commandId, agentId, sourceId })))
    throw invalidRequest("This command is not a request to this agent for a backup of this source.", [
      { path: "/command_id", message: "is not a command for this backup" },
    ]);
  await mergeOutcome(tx, commandId, { backup_id: backupId });
}

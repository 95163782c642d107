import { type CommandKind, newId } from "@attestore/contract";
import { notifyAgent } from "../../platform/database/agent-notices.ts";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { ApiError, notFound } from "../../platform/errors/api-error.ts";
import { findAgentStatus } from "../agents/agent-status.ts";
import { findTestableBackup } from "./testable-backup.ts";
import { lockSource } from "../sources/lock-source.ts";
import type { Source } from "../sources/store.ts";
import { insertCommand } from "../commands/store.ts";

export interface NewCommand {
  source: Source;
  kind: CommandKind;
  /** For a restore test; the source's newest backup if absent. */
  backupId: string | null;
  /** A user's id, `console` or `schedule`. */
  issuedBy: string;
  now?: Date;
}

/**
 * Queues a command for the agent that has to run it: a source's restore tests go to its second
 * agent if it has one. Throws `not_found` if the source has no such backup, and `conflict` if the
 * agent is revoked.
 */
export async function queueCommand(
  tx: DatabaseTransaction,
  { source, kind, backupId, issuedBy, now = new Date() }: NewCommand,
): Promise<{ commandId: string; agentId: string; backupId: string | null }> {
  // A backup that a command names does not expire in the meantime.
  await lockSource(tx, source.id);
  const agentId = kind === "restore_test" ? (source.test_agent_id ?? source.agent_id) : source.agent_id;
  if ((await findAgentStatus(tx, agentId)) !== "active")
    throw new ApiError(
      "conflict",
      `The agent ${agentId} of this source is revoked. Attach the host again first.`,
    );
  // Without any backup the agent gets the command all the same, and answers with an event.
  const tested = kind === "restore_test" ? await findTestableBackup(tx, source.id, backupId) : null;
  if (backupId !== null && tested === null) throw notFound("backup of this source");
  const commandId = newId("command", now.getTime());
  await insertCommand(tx, {
    id: commandId,
    org_id: source.org_id,
    source_id: source.id,
    agent_id: agentId,
    kind,
    params: JSON.stringify(tested === null ? {} : { backup_id: tested }),
    issued_by: issuedBy,
    created_at: now,
  });
  // Scheduled commands come with heartbeats, so not all agents get theirs in the same second.
  if (issuedBy !== "schedule") await notifyAgent(tx, agentId);
  return { commandId, agentId, backupId: tested };
}

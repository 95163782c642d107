import type { CommandRecord } from "@attestore/contract";
import type { Command } from "./store.ts";

/** A command as the contract's section 10 shows it. */
export function commandRecord(command: Command): CommandRecord {
  const { id, org_id, kind, source_id, agent_id, status, params, attempts, issued_by, progress } = command;
  const { outcome, result } = command;
  return {
    id,
    created_at: command.created_at.toISOString(),
    org_id,
    kind,
    source_id,
    agent_id,
    status,
    params,
    attempts,
    issued_by,
    delivered_at: command.delivered_at?.toISOString() ?? null,
    acked_at: command.acked_at?.toISOString() ?? null,
    ended_at: command.ended_at?.toISOString() ?? null,
    ...(progress === null ? {} : { progress }),
    outcome: result === null ? outcome : { ...outcome, result },
  };
}

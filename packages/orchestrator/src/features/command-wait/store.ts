import { runPrepared, type PreparedQuery } from "../../platform/database/prepared.ts";
import type { Database } from "../../platform/database/schema.ts";
import { isDue } from "../config-requests/store.ts";

/** The commands or requests that `takeForDelivery` or `takeConfigRequests` would hand out. */
const PENDING: PreparedQuery = {
  name: "command_wait_pending",
  text: `select exists (
      select from commands join sources on sources.id = commands.source_id
      where commands.agent_id = agents.id and commands.ended_at is null and sources.removed_at is null
        and (commands.status = 'queued' or (commands.status = 'delivered' and commands.delivered_at < $2))
    ) or (remote_config and exists (select from config_requests where ${isDue("agents.id", "$3::timestamptz")})) as pending
    from agents where id = $1 and status = 'active'`,
};

/**
 * Whether the agent's next heartbeat gets a command, with those that were delivered before
 * `notSince` and never acknowledged; null if the agent is revoked. Like the heartbeat's fast path
 * it runs as the service: the token names the agent.
 */
export async function readPending(
  db: Database,
  agentId: string,
  { notSince, now }: { notSince: Date; now: Date },
): Promise<boolean | null> {
  const [row] = await runPrepared<{ pending: boolean }>(db, PENDING, [agentId, notSince, now]);
  return row?.pending ?? null;
}

/** Which of these agents have a command that was not delivered yet. */
export async function agentsWithQueued(db: Database, agentIds: readonly string[]): Promise<string[]> {
  if (agentIds.length === 0) return [];
  const rows = await db
    .selectFrom("commands")
    .select("agent_id")
    .distinct()
    .where("agent_id", "in", agentIds)
    .where("status", "=", "queued")
    .where("ended_at", "is", null)
    .execute();
  return rows.map(({ agent_id }) => agent_id);
}

import type { Database } from "../../platform/database/schema.ts";
import { findSourceAgents } from "./store.ts";

/** Whether an agent makes the source's backups or tests them, also after the source was removed. */
export async function isAgentOf(db: Database, sourceId: string, agentId: string): Promise<boolean> {
  return (await findSourceAgents(db, sourceId))?.includes(agentId) ?? false;
}

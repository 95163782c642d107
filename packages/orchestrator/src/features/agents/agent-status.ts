import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { findAgent } from "./store.ts";

/** Null if there is no such agent. */
export async function findAgentStatus(
  tx: DatabaseTransaction,
  id: string,
): Promise<"active" | "revoked" | null> {
  return (await findAgent(tx, id))?.status ?? null;
}

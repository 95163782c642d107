import type { Schemas } from "@attestore/contract/client";

export type KitState = "unknown" | "none" | "untested" | "old" | "tested";

const YEAR_MS = 365 * 86_400_000;

/** The state of an agent's recovery kit. As on the agent, a test counts for one year. */
export function kitState({ encryption }: Pick<Schemas["AgentRecord"], "encryption">, now: Date): KitState {
  if (encryption === null) return "unknown";
  const kit = encryption.recovery_kit;
  if (kit === null) return "none";
  if (kit.tested_at === null) return "untested";
  return now.getTime() - Date.parse(kit.tested_at) > YEAR_MS ? "old" : "tested";
}

/** Whether a lost host could mean lost backups. */
export function needsKit(state: KitState): boolean {
  return state === "none" || state === "untested" || state === "old";
}

import { sourceText } from "../../../text/sources.ts";
import { isUnderWay } from "../../commands/command-state.ts";
import type { Agent, Source } from "../queries.ts";
import type { Command } from "../../commands/command-state.ts";

const text = sourceText.trigger;

interface Circumstances {
  mayManage: boolean;
  source: Pick<Source, "agent_id" | "test_agent_id" | "last_backup_at">;
  /** The agent that would run it; undefined until loaded. */
  agent: Pick<Agent, "name" | "status"> | undefined;
  /** The source's newest commands; undefined until loaded. */
  commands: readonly Command[] | undefined;
  now: Date;
}

/** The agent that runs it: if the source has a second agent, that one tests restores. */
export function runnerOf(source: Pick<Source, "agent_id" | "test_agent_id">, kind: Command["kind"]): string {
  return kind === "restore_test" ? (source.test_agent_id ?? source.agent_id) : source.agent_id;
}

/** Why it cannot be started now; null if it can. */
export function triggerReason(
  kind: Command["kind"],
  { mayManage, source, agent, commands, now }: Circumstances,
): string | null {
  if (!mayManage) return text.readOnly;
  if (agent?.status === "revoked") return text.agentRevoked(agent.name);
  if (commands === undefined) return text.unknown;
  if (commands.some((command) => command.kind === kind && isUnderWay(command, now)))
    return text.alreadyRunning[kind];
  if (kind === "restore_test" && source.last_backup_at === null) return text.noBackup;
  return null;
}

import { sourceText } from "../../text/sources.ts";
import { isUnderWay } from "../commands/command-state.ts";
import type { Agent, Source } from "./queries.ts";
import type { Command } from "../commands/command-state.ts";

const text = sourceText.trigger;

interface Circumstances {
  mayManage: boolean;
  source: Pick<Source, "agent_id" | "test_agent_id" | "last_backup_at">;
  /** The agent that would be asked; undefined while it is not known. */
  agent: Pick<Agent, "name" | "status"> | undefined;
  /** The source's newest; undefined while they are not known. */
  commands: readonly Command[] | undefined;
  now: Date;
}

/** Who is asked for it: a second agent tests restores, where the source has one. */
export function runnerOf(source: Pick<Source, "agent_id" | "test_agent_id">, kind: Command["kind"]): string {
  return kind === "restore_test" ? (source.test_agent_id ?? source.agent_id) : source.agent_id;
}

/** Why nobody can ask for it now; null where somebody can. */
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

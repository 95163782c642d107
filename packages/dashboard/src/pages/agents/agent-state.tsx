import type { Schemas } from "@attestore/contract/client";
import { Badge } from "@mantine/core";
import { agents as text } from "../../text/agents.ts";

type State = keyof typeof text.state;

const COLOURS: Record<State, string> = {
  active: "teal",
  stopped: "orange",
  silent: "orange",
  revoked: "gray",
  new: "gray",
};

interface AgentStateProps {
  agent: Schemas["AgentRecord"];
  isSilent: boolean;
  /** Nothing was heard of it for a short while. */
  isStopped?: boolean;
}

/** The word says the state; the colour only repeats it. */
export function AgentState({ agent, isSilent, isStopped = false }: AgentStateProps) {
  const state = stateOf(agent, isSilent, isStopped);
  return (
    <Badge variant="outline" color={COLOURS[state]} tt="none" c="var(--mantine-color-text)">
      {text.state[state]}
    </Badge>
  );
}

function stateOf(agent: Schemas["AgentRecord"], isSilent: boolean, isStopped: boolean): State {
  if (agent.status === "revoked") return "revoked";
  if (isSilent) return "silent";
  if (agent.last_seen_at === null) return "new";
  return isStopped ? "stopped" : "active";
}

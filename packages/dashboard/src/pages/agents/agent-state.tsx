import type { Schemas } from "@attestore/contract/client";
import { Badge } from "@mantine/core";
import { agents as text } from "../../text/agents.ts";

type State = keyof typeof text.state;

const COLOURS: Record<State, string> = { active: "teal", silent: "orange", revoked: "gray", new: "gray" };

/** The word says the state; the colour only repeats it. */
export function AgentState({ agent, isSilent }: { agent: Schemas["AgentRecord"]; isSilent: boolean }) {
  const state = stateOf(agent, isSilent);
  return (
    <Badge variant="outline" color={COLOURS[state]} tt="none" c="var(--mantine-color-text)">
      {text.state[state]}
    </Badge>
  );
}

function stateOf(agent: Schemas["AgentRecord"], isSilent: boolean): State {
  if (agent.status === "revoked") return "revoked";
  if (isSilent) return "silent";
  return agent.last_seen_at === null ? "new" : "active";
}

import { useAgents } from "../api/use-agents.ts";
import { RecordLink } from "./record-link.tsx";

/** An agent by its name, with a link to its page; by its id where it is not known. */
export function AgentName({ id, inText = false }: { id: string; inText?: boolean }) {
  const agents = useAgents();
  return (
    <RecordLink id={id} inText={inText}>
      {agents.nameOf(id)}
    </RecordLink>
  );
}

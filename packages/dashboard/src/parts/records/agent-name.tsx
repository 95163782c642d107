import { useAgents } from "../../api/use-agents.ts";
import { RecordLink } from "./record-link.tsx";

/** A link to an agent by its name; the id if the name is not known. */
export function AgentName({ id, inText = false }: { id: string; inText?: boolean }) {
  const agents = useAgents();
  return (
    <RecordLink id={id} inText={inText}>
      {agents.nameOf(id)}
    </RecordLink>
  );
}

import { useQuery } from "@tanstack/react-query";
import { useMe, useOrgId } from "../../api/session.ts";
import { AgentName } from "../../parts/records/agent-name.tsx";
import { memberListQuery } from "../api-logs/queries.ts";
import { actorWords } from "./event-words.ts";
import type { LogEvent } from "./queries.ts";

/** Who did it: an agent by its name, a member by their address. */
export function ActorView({ actor: { kind, id } }: { actor: LogEvent["actor"] }) {
  if (kind === "service") return <>{actorWords(kind)}</>;
  return (
    <>
      {actorWords(kind)}{" "}
      {kind === "agent" ? <AgentName id={id} inText /> : kind === "user" ? <Member id={id} /> : short(id)}
    </>
  );
}

function Member({ id }: { id: string }) {
  // A reader with an auditor link may read records, but not the list of members.
  const enabled = useMe().user.role !== "reader";
  const { data: members = [] } = useQuery({ ...memberListQuery(useOrgId()), enabled });
  return <>{members.find((user) => user.id === id)?.email ?? short(id)}</>;
}

function short(id: string): string {
  return `…${id.slice(-6)}`;
}

import { useQuery } from "@tanstack/react-query";
import { useOrgId } from "../../api/session.ts";
import { RecordLink } from "../../parts/records/record-link.tsx";
import { apiLogText as text } from "../../text/api-logs.ts";
import { useAgents } from "../../api/use-agents.ts";
import { type ApiLog, memberListQuery } from "./queries.ts";

/**
 * Who called: a person by their address, an agent by its name; and the operator who acted as them.
 */
export function Actor({ log: { actor, impersonator } }: { log: ApiLog }) {
  const { data: members = [] } = useQuery(memberListQuery(useOrgId()));
  const agents = useAgents();
  const { kind, id } = actor;
  const name =
    id === null ? (
      text.kinds[kind]
    ) : kind === "agent" ? (
      <RecordLink id={id}>{agents.nameOf(id)}</RecordLink>
    ) : kind === "console" ? (
      text.console(id)
    ) : (
      (members.find((user) => user.id === id)?.email ?? `${text.kinds[kind]} ${id}`)
    );
  return (
    <>
      {name}
      {impersonator !== undefined && <b> {text.impersonated(impersonator.id)}</b>}
    </>
  );
}

import { useQuery } from "@tanstack/react-query";
import { useOrgId } from "../../api/session.ts";
import { commandText } from "../../text/commands.ts";
import { memberListQuery } from "../api-logs/queries.ts";

/** Who requested a command: a person by their address, the schedule, or the console. */
export function Issuer({ id }: { id: string }) {
  const { data: members = [] } = useQuery(memberListQuery(useOrgId()));
  const member = members.find((user) => user.id === id);
  return <>{commandText.by[id] ?? member?.email ?? id}</>;
}

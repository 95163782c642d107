import { useQuery } from "@tanstack/react-query";
import { useOrgId } from "../../api/session.ts";
import { type Agent, agentListQuery } from "./queries.ts";

export interface Agents {
  all: readonly Agent[];
  find(id: string): Agent | undefined;
  /** Its name; its id until that is known. */
  nameOf(id: string): string;
}

/** The organisation's agents, for the names behind ids; none until they are there. */
export function useAgents(): Agents {
  const { data = [] } = useQuery(agentListQuery(useOrgId()));
  const find = (id: string): Agent | undefined => data.find((agent) => agent.id === id);
  return { all: data, find, nameOf: (id) => find(id)?.name ?? id };
}

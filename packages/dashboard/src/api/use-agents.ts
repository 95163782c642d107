import type { Schemas } from "@attestore/contract/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { api } from "./client.ts";
import { allPages, pageOf } from "./paged-query.ts";
import { useOrgId } from "./session.ts";

type Agent = Schemas["AgentRecord"];

export interface Agents {
  all: readonly Agent[];
  find(id: string): Agent | undefined;
  /** The agent's name; its id until that is loaded. */
  nameOf(id: string): string;
}

/** The organisation's agents, to show names for ids; empty until loaded. */
export function useAgents(): Agents {
  const { data = [] } = useQuery(agentListQuery(useOrgId()));
  const find = (id: string): Agent | undefined => data.find((agent) => agent.id === id);
  return { all: data, find, nameOf: (id) => find(id)?.name ?? id };
}

function agentListQuery(orgID: string) {
  return queryOptions({
    queryKey: ["orgs", orgID, "agents", "all"],
    queryFn: () =>
      allPages(
        async (cursor) =>
          (await api.call("get", "/api/orgs/{orgID}/agents", { path: { orgID }, query: pageOf(cursor, 200) }))
            .body,
      ),
  });
}

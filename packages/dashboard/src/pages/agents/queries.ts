import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { every } from "../../api/query-client.ts";
import { allPages, pagedQuery, pageOf } from "../../api/paged-query.ts";

export type AgentFilter = "active" | "revoked" | "all";

/**
 * Heartbeats change these constantly, and nobody wants to wait a minute to see that a host is back.
 */
const EVERY_MS = 5000;

export const agentsQuery = (orgID: string, filter: AgentFilter) => ({
  ...pagedQuery(["agents", orgID, filter], async (cursor) => {
    const status = filter === "all" ? {} : { status: filter };
    const query = { ...pageOf(cursor), ...status };
    return (await api.call("get", "/api/orgs/{orgID}/agents", { path: { orgID }, query })).body;
  }),
  refetchInterval: every(EVERY_MS),
});

export const agentQuery = (orgID: string, agentID: string) =>
  queryOptions({
    queryKey: ["agents", orgID, "one", agentID],
    queryFn: async () =>
      (await api.call("get", "/api/orgs/{orgID}/agents/{agentID}", { path: { orgID, agentID } })).body,
    refetchInterval: every(EVERY_MS),
  });

/** The agent's signing keys, the current one first. */
export const agentKeysQuery = (orgID: string, agentID: string) =>
  queryOptions({
    queryKey: ["agents", orgID, "keys", agentID],
    queryFn: async () =>
      (await api.call("get", "/api/orgs/{orgID}/agents/{agentID}/keys", { path: { orgID, agentID } })).body
        .items,
  });

/** Agents that have missed their heartbeats, by id. */
export const silentAgentsQuery = (orgID: string) =>
  queryOptions({
    queryKey: ["agents", orgID, "silent"],
    queryFn: async () => {
      const incidents = await allPages(async (cursor) => {
        const query = { ...pageOf(cursor, 200), kind: "agent_silent", status: "open" } as const;
        return (await api.call("get", "/api/orgs/{orgID}/incidents", { path: { orgID }, query })).body;
      });
      return new Set(incidents.flatMap(({ agent_id }) => (agent_id === null ? [] : [agent_id])));
    },
  });

export const agentSourcesQuery = (orgID: string, agentID: string) =>
  queryOptions({
    queryKey: ["agents", orgID, "sources", agentID],
    queryFn: () =>
      allPages(async (cursor) => {
        const query = { ...pageOf(cursor, 200), agent_id: agentID };
        return (await api.call("get", "/api/orgs/{orgID}/sources", { path: { orgID }, query })).body;
      }),
  });

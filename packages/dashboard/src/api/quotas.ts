import { queryOptions } from "@tanstack/react-query";
import { api } from "./client.ts";

/** What an organisation may store and do, and how much of it is used. */
export const quotasQuery = (orgID: string) =>
  queryOptions({
    queryKey: ["quotas", orgID],
    queryFn: async () => (await api.call("get", "/api/orgs/{orgID}/quotas", { path: { orgID } })).body,
  });

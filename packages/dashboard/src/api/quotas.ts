import { queryOptions } from "@tanstack/react-query";
import { api } from "./client.ts";

/** An organisation's quotas, and how much of each is used. */
export const quotasQuery = (orgID: string) =>
  queryOptions({
    queryKey: ["quotas", orgID],
    queryFn: async () => (await api.call("get", "/api/orgs/{orgID}/quotas", { path: { orgID } })).body,
  });

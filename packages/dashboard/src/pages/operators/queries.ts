import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { allPages, pagedQuery, pageOf } from "../../api/paged-query.ts";

export const orgListQuery = pagedQuery(["orgs", "paged"], async (cursor) => {
  const query = pageOf(cursor);
  return (await api.call("get", "/api/orgs", { query })).body;
});

/** All of them, to choose from. */
export const orgsQuery = queryOptions({
  queryKey: ["orgs", "all"],
  queryFn: () =>
    allPages(async (cursor) => (await api.call("get", "/api/orgs", { query: pageOf(cursor, 200) })).body),
});

export const orgQuery = (orgID: string) =>
  queryOptions({
    queryKey: ["orgs", "one", orgID],
    queryFn: async () => (await api.call("get", "/api/orgs/{orgID}", { path: { orgID } })).body,
  });

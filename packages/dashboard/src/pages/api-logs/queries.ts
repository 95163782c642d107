import type { Schemas } from "@attestore/contract/client";
import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { periodOf } from "../../api/day.ts";
import { allPages, pagedQuery, pageOf } from "../../api/paged-query.ts";
import type { ApiLogSearch } from "./search-params.ts";

export type ApiLog = Schemas["ApiLogRecord"];

export function apiLogListQuery(orgID: string, search: ApiLogSearch) {
  const { from: _from, to: _to, ...filter } = search;
  return pagedQuery(
    ["orgs", orgID, "api-logs", "list", search],
    async (cursor) =>
      (
        await api.call("get", "/api/orgs/{orgID}/api-logs", {
          path: { orgID },
          query: { ...pageOf(cursor), ...filter, ...periodOf(search) },
        })
      ).body,
  );
}

export function apiLogQuery(orgID: string, logID: string) {
  return queryOptions({
    queryKey: ["orgs", orgID, "api-logs", logID],
    queryFn: async () => (await api.call("get", "/api/api-logs/{logID}", { path: { logID } })).body,
    // A recorded call never changes.
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: false,
  });
}

export function memberListQuery(orgID: string) {
  return queryOptions({
    queryKey: ["orgs", orgID, "users", "all"],
    queryFn: () =>
      allPages(
        async (cursor) =>
          (await api.call("get", "/api/orgs/{orgID}/users", { path: { orgID }, query: pageOf(cursor, 200) }))
            .body,
      ),
  });
}

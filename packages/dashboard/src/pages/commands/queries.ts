import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { pagedQuery, pageOf } from "../../api/paged-query.ts";
import { endOf } from "./command-state.ts";
import type { CommandSearch } from "./search-params.ts";

export function commandListQuery(orgID: string, search: CommandSearch) {
  return pagedQuery(
    ["orgs", orgID, "commands", "list", search],
    async (cursor) =>
      (
        await api.call("get", "/api/orgs/{orgID}/commands", {
          path: { orgID },
          query: { ...pageOf(cursor), ...search },
        })
      ).body,
  );
}

const WATCHED_MS = 2000;

export function commandQuery(orgID: string, commandID: string) {
  return queryOptions({
    queryKey: ["orgs", orgID, "commands", commandID],
    queryFn: async () => (await api.call("get", "/api/commands/{commandID}", { path: { commandID } })).body,
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && endOf(data) === null ? WATCHED_MS : false,
  });
}

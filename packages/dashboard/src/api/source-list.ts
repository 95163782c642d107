import { queryOptions } from "@tanstack/react-query";
import { api } from "./client.ts";
import { allPages, pageOf } from "./paged-query.ts";

/** All sources of the organisation. */
export function sourceListQuery(orgID: string) {
  return queryOptions({
    queryKey: ["orgs", orgID, "sources", "list"],
    queryFn: () =>
      allPages(
        async (cursor) =>
          (
            await api.call("get", "/api/orgs/{orgID}/sources", {
              path: { orgID },
              query: pageOf(cursor, 200),
            })
          ).body,
      ),
  });
}

import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { allPages, pageOf } from "../../api/paged-query.ts";

/** All members, because only the whole list shows whether an owner is the last one. */
export const membersQuery = (orgID: string) =>
  queryOptions({
    queryKey: ["members", orgID],
    queryFn: () =>
      allPages(async (cursor) => {
        const query = pageOf(cursor, 200);
        return (await api.call("get", "/api/orgs/{orgID}/users", { path: { orgID }, query })).body;
      }),
  });

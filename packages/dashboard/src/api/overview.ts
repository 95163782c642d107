import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "./client.ts";

export type DaysShown = 30 | 90;

/**
 * Everything the page shows. When the number of days changes, the old data stays until the new has
 * loaded.
 */
export const overviewQuery = (orgID: string, days: DaysShown) =>
  queryOptions({
    queryKey: ["overview", orgID, days],
    queryFn: async () =>
      (
        await api.call("get", "/api/orgs/{orgID}/overview", {
          path: { orgID },
          query: { days: days === 90 ? "90" : "30" },
        })
      ).body,
    placeholderData: keepPreviousData,
  });

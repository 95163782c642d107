import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";

export type DaysShown = 30 | 90;

/** All that the page shows. Another number of days is put in place of the one before when it is there. */
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

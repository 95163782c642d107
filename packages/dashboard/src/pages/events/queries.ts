import type { Schemas } from "@attestore/contract/client";
import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { periodOf } from "../../api/day.ts";
import { pagedQuery, pageOf } from "../../api/paged-query.ts";
import type { EventSearch } from "./search-params.ts";

export type LogEvent = Schemas["EventRecord"];

export function eventListQuery(orgID: string, search: EventSearch) {
  return pagedQuery(["orgs", orgID, "events", "list", search], async (cursor) => {
    const { from: _from, to: _to, ...filter } = search;
    const query = { ...pageOf(cursor), ...filter, ...periodOf(search) };
    return (await api.call("get", "/api/orgs/{orgID}/events", { path: { orgID }, query })).body;
  });
}

/** The newest event of a source and kind; null if there is none. */
export function newestEventQuery(orgID: string, of: { source_id: string; kind: string }) {
  return queryOptions({
    queryKey: ["orgs", orgID, "events", "newest", of],
    queryFn: async () => {
      const query = { ...pageOf(undefined, 1), ...of };
      const { body } = await api.call("get", "/api/orgs/{orgID}/events", { path: { orgID }, query });
      return body.items[0] ?? null;
    },
  });
}

/** An event never changes. */
export function eventQuery(orgID: string, eventID: string) {
  return queryOptions({
    queryKey: ["orgs", orgID, "events", "one", eventID],
    queryFn: async () => (await api.call("get", "/api/events/{eventID}", { path: { eventID } })).body,
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: false,
  });
}

import type { Schemas } from "@attestore/contract/client";
import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { every } from "../../api/query-client.ts";
import { allPages, pagedQuery, pageOf } from "../../api/paged-query.ts";

export type Channel = Schemas["ChannelRecord"];
export type Delivery = Schemas["DeliveryRecord"];
export type DeliveryFilter = Schemas["DeliveryStatus"] | "all";

export const channelsQuery = (orgID: string) =>
  queryOptions({
    queryKey: ["notifications", orgID, "channels"],
    queryFn: () =>
      allPages(async (cursor) => {
        const query = pageOf(cursor, 200);
        return (await api.call("get", "/api/orgs/{orgID}/notifications/channels", { path: { orgID }, query }))
          .body;
      }),
  });

const EVERY_MS = 5000;

export const deliveriesQuery = (orgID: string, filter: DeliveryFilter) => ({
  ...pagedQuery(["notifications", orgID, "deliveries", filter], async (cursor) => {
    const query = { ...pageOf(cursor, 20), ...(filter === "all" ? {} : { status: filter }) };
    return (await api.call("get", "/api/orgs/{orgID}/notifications/deliveries", { path: { orgID }, query }))
      .body;
  }),
  refetchInterval: every(EVERY_MS),
});

export const deliveryQuery = (orgID: string, deliveryID: string) =>
  queryOptions({
    queryKey: ["notifications", orgID, "delivery", deliveryID],
    queryFn: async () =>
      (
        await api.call("get", "/api/orgs/{orgID}/notifications/deliveries/{deliveryID}", {
          path: { orgID, deliveryID },
        })
      ).body,
  });

/** What people call a channel. */
export function nameOf({ name, email, url }: Channel): string {
  return name ?? email ?? url ?? "";
}

import { DeliveryDetail, DeliveryQueued, DeliveryRecord, DeliveryStatus, Id } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import { ApiError, notFound } from "../../../platform/errors/api-error.ts";
import {
  idRange,
  listOf,
  listQuery,
  paged,
  pageOf,
  period,
  periodOf,
} from "../../../platform/http/route/pagination.ts";
import { orgReadRoute, type Route, writeRoute } from "../../../platform/http/route/route.ts";
import { findChannel } from "../channels/channel-store.ts";
import { findDelivery, listAttempts, listDeliveries, requeue } from "./delivery-store.ts";
import { channelRecord } from "../channels/serialize-channel.ts";
import { deliveryDetail, deliveryRecord } from "./serialize-delivery.ts";

const ofDelivery = Type.Object({ orgID: Id("org"), deliveryID: Id("delivery") });

export function deliveryRoutes(): Route[] {
  return [
    orgReadRoute({
      method: "GET",
      path: "/api/orgs/:orgID/notifications/deliveries",
      summary: "List deliveries and whether they arrived; kept for 90 days",
      action: "notifications.read",
      params: Type.Object({ orgID: Id("org") }),
      query: listQuery({
        ...period,
        channel_id: Type.Optional(Id("channel")),
        status: Type.Optional(DeliveryStatus),
      }),
      answers: { 200: listOf(DeliveryRecord) },
      rateLimits: ["default"],
      async handle({ orgId, query }, tx) {
        const page = pageOf("delivery", query);
        const ids = idRange("delivery", page, periodOf(query));
        const rows = await listDeliveries(tx, orgId, query, ids, page.limit);
        return { status: 200, body: paged(rows, page, deliveryRecord) };
      },
    }),
    orgReadRoute({
      method: "GET",
      path: "/api/orgs/:orgID/notifications/deliveries/:deliveryID",
      summary: "Read one delivery with every attempt and what was sent",
      action: "notifications.read",
      params: ofDelivery,
      answers: { 200: DeliveryDetail },
      rateLimits: ["default"],
      async handle({ orgId, params }, tx) {
        const delivery = await findDelivery(tx, orgId, params.deliveryID);
        if (delivery === null) throw notFound("delivery");
        return { status: 200, body: deliveryDetail(delivery, await listAttempts(tx, delivery.id)) };
      },
    }),
    writeRoute({
      method: "POST",
      path: "/api/orgs/:orgID/notifications/deliveries/:deliveryID/retry",
      summary: "Send a delivery again, under the same id",
      action: "notifications.manage",
      credential: "user",
      params: ofDelivery,
      answers: { 202: DeliveryQueued },
      errors: ["conflict"],
      rateLimits: ["default", "notification_test"],
      async handle({ params }, tx) {
        const delivery = await findDelivery(tx, params.orgID, params.deliveryID);
        if (delivery === null) throw notFound("delivery");
        const channel = await findChannel(tx, params.orgID, delivery.channel_id);
        if (channel === null || channelRecord(channel).status !== "active")
          throw new ApiError("conflict", "The channel was removed or is off.");
        if (!(await requeue(tx, delivery.id)))
          throw new ApiError("conflict", "It is still being tried; next_attempt_at says when.");
        return { status: 202, body: { delivery_id: delivery.id } };
      },
    }),
  ];
}

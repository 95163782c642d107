import {
  AddChannelRequest,
  ChangeChannelRequest,
  ChannelRecord,
  ChannelWithSecret,
  DeliveryQueued,
  Id,
  newId,
} from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import { ApiError, notFound } from "../../../platform/errors/api-error.ts";
import {
  listOf,
  listQuery,
  paged,
  pageOf,
  period,
  periodOf,
} from "../../../platform/http/route/pagination.ts";
import { orgReadRoute, type Route, writeRoute } from "../../../platform/http/route/route.ts";
import { requireOrg } from "../../orgs/require-org.ts";
import { addChannel } from "./add-channel.ts";
import { queueNotification } from "../../notification-queue/queue-notification.ts";
import { changeChannel, removeChannel, renewSecret, requireChannel } from "./change-channel.ts";
import { findChannel, listChannels } from "./channel-store.ts";
import { channelRecord } from "./serialize-channel.ts";
import type { NotificationDeps } from "./deps.ts";

const ofOrg = Type.Object({ orgID: Id("org") });
const ofChannel = Type.Object({ orgID: Id("org"), channelID: Id("channel") });

export function channelRoutes(deps: NotificationDeps): Route[] {
  const add = writeRoute({
    method: "POST",
    path: "/api/orgs/:orgID/notifications/channels",
    summary: "Add a mail recipient, or a webhook, whose secret is shown only once",
    action: "notifications.manage",
    credential: "user",
    params: ofOrg,
    body: AddChannelRequest,
    answers: { 201: ChannelWithSecret },
    errors: ["already_exists", "conflict"],
    rateLimits: ["default"],
    secret: true,
    async handle({ body, params, principal }, tx) {
      const { orgID: orgId } = params;
      const { id, secret } = await addChannel(tx, deps, { orgId, createdBy: principal.id }, body);
      return { status: 201, body: { ...channelRecord(await requireChannel(tx, orgId, id)), secret } };
    },
  });

  const list = orgReadRoute({
    method: "GET",
    path: "/api/orgs/:orgID/notifications/channels",
    summary: "List where notifications go",
    action: "notifications.read",
    params: ofOrg,
    query: listQuery(period),
    answers: { 200: listOf(ChannelRecord) },
    rateLimits: ["default"],
    async handle({ orgId, query }, tx) {
      const page = pageOf("channel", query);
      const channels = await listChannels(tx, orgId, { page, ...periodOf(query) });
      return { status: 200, body: paged(channels, page, channelRecord) };
    },
  });

  const show = orgReadRoute({
    method: "GET",
    path: "/api/orgs/:orgID/notifications/channels/:channelID",
    summary: "One channel",
    action: "notifications.read",
    params: ofChannel,
    answers: { 200: ChannelRecord },
    rateLimits: ["default"],
    async handle({ orgId, params }, tx) {
      const channel = await findChannel(tx, orgId, params.channelID);
      if (channel === null) throw notFound("channel");
      return { status: 200, body: channelRecord(channel) };
    },
  });

  const change = writeRoute({
    method: "PATCH",
    path: "/api/orgs/:orgID/notifications/channels/:channelID",
    summary: "Change what a channel is sent, or turn it off or on",
    action: "notifications.manage",
    credential: "user",
    params: ofChannel,
    body: ChangeChannelRequest,
    answers: { 200: ChannelRecord },
    rateLimits: ["default"],
    async handle({ body, params }, tx) {
      const channel = await requireChannel(tx, params.orgID, params.channelID);
      return { status: 200, body: channelRecord(await changeChannel(tx, deps, channel, body)) };
    },
  });

  const remove = writeRoute({
    method: "DELETE",
    path: "/api/orgs/:orgID/notifications/channels/:channelID",
    summary: "Remove a channel; its deliveries stay in the delivery log",
    action: "notifications.manage",
    credential: "user",
    params: ofChannel,
    answers: { 200: ChannelRecord },
    rateLimits: ["default"],
    async handle({ params }, tx) {
      const channel = await requireChannel(tx, params.orgID, params.channelID);
      await removeChannel(tx, channel);
      return { status: 200, body: channelRecord(channel) };
    },
  });

  const renew = writeRoute({
    method: "POST",
    path: "/api/orgs/:orgID/notifications/channels/:channelID/rotate-secret",
    summary: "Create a new secret for a webhook, shown only once; for a day the old one also signs",
    action: "notifications.manage",
    credential: "user",
    params: ofChannel,
    answers: { 200: ChannelWithSecret },
    rateLimits: ["default"],
    secret: true,
    async handle({ params }, tx) {
      const channel = await requireChannel(tx, params.orgID, params.channelID);
      const secret = await renewSecret(tx, deps, channel);
      return { status: 200, body: { ...channelRecord(channel), secret } };
    },
  });

  const test = writeRoute({
    method: "POST",
    path: "/api/orgs/:orgID/notifications/channels/:channelID/test",
    summary: "Send a test",
    action: "notifications.manage",
    credential: "user",
    params: ofChannel,
    answers: { 202: DeliveryQueued },
    errors: ["conflict"],
    rateLimits: ["default", "notification_test"],
    async handle({ params, principal }, tx) {
      const channel = await requireChannel(tx, params.orgID, params.channelID);
      if (channelRecord(channel).status !== "active")
        throw new ApiError("conflict", "This channel is off. Turn it on first.");
      const org = await requireOrg(tx, params.orgID);
      const [deliveryId] = await queueNotification(
        tx,
        {
          orgId: org.id,
          key: newId("request"),
          type: "notification.test",
          occurredAt: new Date(),
          data: { org: { id: org.id, name: org.name }, asked_by: principal.email },
        },
        { channelId: channel.id },
      );
      if (deliveryId === undefined) throw new Error("a test notification had no channel");
      return { status: 202, body: { delivery_id: deliveryId } };
    },
  });

  return [add, list, show, change, remove, renew, test];
}

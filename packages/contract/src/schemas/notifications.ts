import { Type, type Static } from "typebox";
import { EmailAddress } from "./people.ts";
import { Count, Id, Label, OrNull, strict, Timestamp } from "./scalars.ts";

/**
 * The event types that a channel can subscribe to. A problem begins an incident, which is reported
 * once when it begins and once when it ends. It ends as recovered if things work again, and as
 * `incident.ended` if nobody waits for them any more or if a missing restore test ran and failed.
 */
export const SUBSCRIBABLE_TYPES = [
  "backup.failed",
  "backup.missed",
  "backup.recovered",
  "restore_test.failed",
  "restore_test.could_not_run",
  "restore_test.missed",
  "restore_test.recovered",
  "restore_test.suspicious",
  "agent.silent",
  "agent.recovered",
  "agent.attached",
  "attestation.failed",
  "attestation.recovered",
  "drift.detected",
  "retention.announced",
  "retention.held",
  "quota.reached",
  "incident.ended",
] as const;

export const SubscribableType = Type.Enum([...SUBSCRIBABLE_TYPES]);
export type SubscribableType = (typeof SUBSCRIBABLE_TYPES)[number];

/** Every type that is sent: those above, test messages, and the weekly evidence. */
export const NotificationType = Type.Enum([...SUBSCRIBABLE_TYPES, "notification.test", "evidence.weekly"]);
export type NotificationType = SubscribableType | "notification.test" | "evidence.weekly";

const Types = Type.Array(SubscribableType, { minItems: 1, maxItems: 50, uniqueItems: true });

/**
 * A webhook's address. It is checked against forbidden addresses when it is set and again at each
 * delivery.
 */
export const WebhookUrl = Type.String({
  minLength: 8,
  maxLength: 2048,
  examples: ["https://hooks.example.org/attestore"],
});

const channel = {
  id: Id("channel"),
  created_at: Timestamp,
  org_id: Id("org"),
  kind: Type.Enum(["email", "webhook"]),
  name: OrNull(Type.String()),
  /**
   * `disabled` by a person, or because the receiver reported that it is gone (`disabled_reason`).
   */
  status: Type.Enum(["active", "disabled"]),
  disabled_reason: OrNull(Type.Enum(["by_user", "receiver_gone", "user_removed"])),
  /** For `email`: a user of the organisation. */
  user_id: OrNull(Id("user")),
  email: OrNull(Type.String()),
  /** For `webhook`. */
  url: OrNull(Type.String()),
  /** Null for all types, including those of later versions. */
  types: OrNull(Type.Array(SubscribableType)),
  /** For `email`: send the receipts of each week on Monday. */
  weekly_evidence: Type.Boolean(),
  last_delivered_at: OrNull(Timestamp),
  last_failed_at: OrNull(Timestamp),
};

/** A destination of an organisation's notifications. */
export const ChannelRecord = Type.Object(channel, strict);
export type ChannelRecord = Static<typeof ChannelRecord>;

/**
 * 201 of a new channel, and 200 of a new secret. A webhook's secret is shown only this once; null
 * for `email`.
 */
export const ChannelWithSecret = Type.Object({ ...channel, secret: OrNull(Type.String()) }, strict);
export type ChannelWithSecret = Static<typeof ChannelWithSecret>;

/**
 * Body of `POST …/notifications/channels`. The address must belong to a user of the organisation.
 * All types by default.
 */
export const AddChannelRequest = Type.Union([
  Type.Object(
    {
      kind: Type.Literal("email"),
      email: EmailAddress,
      name: Type.Optional(Label(100)),
      types: Type.Optional(OrNull(Types)),
      weekly_evidence: Type.Optional(Type.Boolean()),
    },
    strict,
  ),
  Type.Object(
    {
      kind: Type.Literal("webhook"),
      url: WebhookUrl,
      name: Type.Optional(Label(100)),
      types: Type.Optional(OrNull(Types)),
    },
    strict,
  ),
]);
export type AddChannelRequest = Static<typeof AddChannelRequest>;

/** Body of `PATCH …/notifications/channels/{channelID}`. Absent fields stay unchanged. */
export const ChangeChannelRequest = Type.Object(
  {
    name: Type.Optional(OrNull(Label(100))),
    types: Type.Optional(OrNull(Types)),
    status: Type.Optional(Type.Enum(["active", "disabled"])),
    url: Type.Optional(WebhookUrl),
    weekly_evidence: Type.Optional(Type.Boolean()),
  },
  { ...strict, minProperties: 1 },
);
export type ChangeChannelRequest = Static<typeof ChangeChannelRequest>;

export const DeliveryStatus = Type.Enum(["pending", "delivered", "failed", "cancelled"]);
export type DeliveryStatus = Static<typeof DeliveryStatus>;

const delivery = {
  id: Id("delivery"),
  created_at: Timestamp,
  org_id: Id("org"),
  channel_id: Id("channel"),
  /** The message's id, sent as `webhook-id`. It is the same for every attempt. */
  notification_id: Id("notification"),
  type: NotificationType,
  /** The subject of the message; null if it is about the organisation. */
  subject: OrNull(
    Type.Union([
      Type.Object({ kind: Type.Literal("source"), id: Id("source"), name: Type.String() }, strict),
      Type.Object({ kind: Type.Literal("agent"), id: Id("agent"), name: Type.String() }, strict),
    ]),
  ),
  occurred_at: Timestamp,
  status: DeliveryStatus,
  attempts: Count,
  next_attempt_at: OrNull(Timestamp),
  finished_at: OrNull(Timestamp),
};

/** A message to one channel and its delivery status. */
export const DeliveryRecord = Type.Object(delivery, strict);
export type DeliveryRecord = Static<typeof DeliveryRecord>;

export const DeliveryAttempt = Type.Object(
  {
    attempt: Count,
    at: Timestamp,
    duration_ms: Count,
    /** `delivered`, or the reason why not. */
    outcome: Type.Enum([
      "delivered",
      "http_status",
      "redirect",
      "timeout",
      "unreachable",
      "tls",
      "address_not_allowed",
      "mail_refused",
      "answer_too_large",
      "internal",
    ]),
    http_status: OrNull(Count),
    message: Type.String(),
  },
  strict,
);
export type DeliveryAttempt = Static<typeof DeliveryAttempt>;

/**
 * 200 of one delivery: the attempts, oldest first, and the message. `data` is that of the webhook's
 * body.
 */
export const DeliveryDetail = Type.Object(
  {
    ...delivery,
    tried: Type.Array(DeliveryAttempt),
    data: Type.Record(Type.String(), Type.Unknown()),
  },
  strict,
);
export type DeliveryDetail = Static<typeof DeliveryDetail>;

/** 202 of a test, or of a retried delivery. */
export const DeliveryQueued = Type.Object({ delivery_id: Id("delivery") }, strict);
export type DeliveryQueued = Static<typeof DeliveryQueued>;

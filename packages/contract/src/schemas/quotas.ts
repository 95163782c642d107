import { Type, type Static } from "typebox";
import { Count, Id, strict } from "./scalars.ts";

/**
 * What an organisation has quotas for. Bytes are bytes of ciphertext, and objects are backups; both
 * count stored backups and announced uploads.
 */
export const QUOTA_NAMES = ["bytes", "objects", "agents"] as const;
export type QuotaName = (typeof QUOTA_NAMES)[number];

const Limit = Type.Union([Count, Type.Null()]);

/** A null limit means no limit. `default` is the limit unless an operator sets another. */
const Quota = Type.Object({ used: Count, limit: Limit, default: Limit }, strict);

/** 200 of `GET` and `PATCH /api/orgs/{orgID}/quotas`. */
export const QuotasRecord = Type.Object(
  {
    org_id: Id("org"),
    bytes: Quota,
    objects: Quota,
    agents: Quota,
    /** Calls in each window, without heartbeats, receipts and events. */
    requests: Type.Object({ limit: Limit, default: Limit, window_s: Type.Integer({ minimum: 1 }) }, strict),
  },
  strict,
);
export type QuotasRecord = Static<typeof QuotasRecord>;

/**
 * A number, null for no limit, or `default` for the service's own. Absent fields stay unchanged.
 */
const NewLimit = Type.Optional(Type.Union([Count, Type.Null(), Type.Literal("default")]));

/** Body of `PATCH /api/orgs/{orgID}/quotas`. */
export const ChangeQuotasRequest = Type.Object(
  { bytes: NewLimit, objects: NewLimit, agents: NewLimit, requests: NewLimit },
  { ...strict, minProperties: 1 },
);
export type ChangeQuotasRequest = Static<typeof ChangeQuotasRequest>;

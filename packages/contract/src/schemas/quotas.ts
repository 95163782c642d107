import { Type, type Static } from "typebox";
import { Count, Id, strict } from "./scalars.ts";

/** What has a quota in an organisation. Bytes are those of ciphertexts, and objects are backups: both stored, or announced by an upload. */
export const QUOTA_NAMES = ["bytes", "objects", "agents"] as const;
export type QuotaName = (typeof QUOTA_NAMES)[number];

const Limit = Type.Union([Count, Type.Null()]);

/** A limit of null is none. `default`: what holds where no operator set another. */
const Quota = Type.Object({ used: Count, limit: Limit, default: Limit }, strict);

/** 200 of `GET` and `PATCH /api/orgs/{orgID}/quotas`. */
export const QuotasRecord = Type.Object(
  {
    org_id: Id("org"),
    bytes: Quota,
    objects: Quota,
    agents: Quota,
    /** Calls in each window, besides heartbeats, receipts and events. */
    requests: Type.Object({ limit: Limit, default: Limit, window_s: Type.Integer({ minimum: 1 }) }, strict),
  },
  strict,
);
export type QuotasRecord = Static<typeof QuotasRecord>;

/** A number, null for no limit, or `default` for the service's own. What is absent stays. */
const NewLimit = Type.Optional(Type.Union([Count, Type.Null(), Type.Literal("default")]));

/** Body of `PATCH /api/orgs/{orgID}/quotas`. */
export const ChangeQuotasRequest = Type.Object(
  { bytes: NewLimit, objects: NewLimit, agents: NewLimit, requests: NewLimit },
  { ...strict, minProperties: 1 },
);
export type ChangeQuotasRequest = Static<typeof ChangeQuotasRequest>;

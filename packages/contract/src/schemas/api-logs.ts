import { Type, type Static } from "typebox";
import { Count, Id, strict, Timestamp } from "./scalars.ts";

/** The caller: a kind of credential, or a person at the service's console. */
export const ApiLogActorKind = Type.Enum([
  "agent",
  "user",
  "operator",
  "auditor_link",
  "auth_key",
  "anonymous",
  "console",
]);
export type ApiLogActorKind = Static<typeof ApiLogActorKind>;

/**
 * The record of one API call (contract, section 10). It never contains a body, a query or a secret.
 */
export const ApiLogRecord = Type.Object(
  {
    id: Id("apiLog"),
    created_at: Timestamp,
    org_id: Id("org"),
    actor: Type.Object(
      {
        kind: ApiLogActorKind,
        /** A record's id; at the console, the name of the system user. */
        id: Type.Union([Type.String(), Type.Null()]),
      },
      strict,
    ),
    impersonator: Type.Optional(Type.Object({ kind: Type.Literal("operator"), id: Id("user") }, strict)),
    method: Type.String(),
    /** The path's pattern, e.g. `/api/orgs/:orgID/agents`. */
    route: Type.String(),
    path: Type.String(),
    status: Type.Integer(),
    duration_ms: Count,
    address: Type.String(),
    user_agent: Type.Union([Type.String(), Type.Null()]),
    request_id: Type.String(),
    idempotency_key: Type.Optional(Type.String()),
  },
  strict,
);
export type ApiLogRecord = Static<typeof ApiLogRecord>;

import { Type, type Static } from "typebox";
import { Id, Label, PublicKeyWire, strict, Timestamp } from "./scalars.ts";

/** Body of `POST /api/bootstrap/attach` and of `POST /api/bootstrap/start`. */
export const AttachRequest = Type.Object(
  {
    name: Label(100),
    public_key: PublicKeyWire,
    hostname: Label(253),
    platform: Label(64),
    agent_version: Label(64),
  },
  strict,
);
export type AttachRequest = Static<typeof AttachRequest>;

/**
 * The address of the organisation's transparency log, and the verifier key of its checkpoints (C2SP
 * signed-note).
 */
export const LogIdentity = Type.Object({ origin: Type.String(), verifier_key: Type.String() }, strict);
export type LogIdentity = Static<typeof LogIdentity>;

/** 201 of an attach and 200 of an approved poll. */
export const Attached = Type.Object(
  {
    agent_id: Id("agent"),
    org_id: Id("org"),
    api_token: Type.String(),
    log: LogIdentity,
    heartbeat_interval_s: Type.Integer({ minimum: 1 }),
  },
  strict,
);
export type Attached = Static<typeof Attached>;

/**
 * 201 of `POST /api/bootstrap/start`. `interval_s` is the pause before a failed poll is repeated.
 */
export const BootstrapStarted = Type.Object(
  {
    code: Type.String(),
    poll_token: Type.String(),
    attach_url: Type.String(),
    expires_at: Timestamp,
    interval_s: Type.Integer({ minimum: 1 }),
  },
  strict,
);
export type BootstrapStarted = Static<typeof BootstrapStarted>;

/** 202 of `GET /api/bootstrap/{poll_token}`. */
export const AttachPending = Type.Object({ status: Type.Literal("pending") }, strict);
export type AttachPending = Static<typeof AttachPending>;

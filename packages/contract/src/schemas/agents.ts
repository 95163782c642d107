import { Type, type Static } from "typebox";
import { Count, Id, Label, OrNull, PublicKeyWire, strict, Timestamp } from "./scalars.ts";

export const AgentStatus = Type.Union([Type.Literal("active"), Type.Literal("revoked")]);

/** The items in an agent's spool: backups to upload, receipts and events to submit. */
export const AgentSpool = Type.Object({ backups: Count, receipts: Count, events: Count }, strict);
export type AgentSpool = Static<typeof AgentSpool>;

/**
 * The recipients that an agent encrypts backups to: `age1…` and SSH public keys. `recovery_kit` is
 * the recipient whose private half is on paper, and when a person last showed that they can decrypt
 * with it; null without a kit.
 */
export const AgentEncryption = Type.Object(
  {
    recipients: Type.Array(Type.String({ maxLength: 4096 }), { maxItems: 100 }),
    recovery_kit: OrNull(
      Type.Object(
        { recipient: Type.String({ maxLength: 4096 }), made_at: Timestamp, tested_at: OrNull(Timestamp) },
        strict,
      ),
    ),
  },
  strict,
);
export type AgentEncryption = Static<typeof AgentEncryption>;

/**
 * The record of an agent (contract, section 10). `spool` is from its last heartbeat; null if that
 * heartbeat had none. `remote_config`: its host allows the dashboard to add sources and checks.
 */
export const AgentRecord = Type.Object(
  {
    id: Id("agent"),
    created_at: Timestamp,
    org_id: Id("org"),
    name: Type.String(),
    hostname: Type.String(),
    platform: Type.String(),
    agent_version: Type.String(),
    public_key: PublicKeyWire,
    key_fingerprint: Type.String(),
    status: AgentStatus,
    last_seen_at: OrNull(Timestamp),
    revoked_at: OrNull(Timestamp),
    spool: OrNull(AgentSpool),
    encryption: OrNull(AgentEncryption),
    remote_config: Type.Boolean(),
  },
  strict,
);
export type AgentRecord = Static<typeof AgentRecord>;

/** Body of `PATCH /api/orgs/{orgID}/agents/{agentID}`. */
export const RenameAgentRequest = Type.Object({ name: Label(100) }, strict);

const authKey = {
  id: Id("authKey"),
  created_at: Timestamp,
  org_id: Id("org"),
  name: OrNull(Type.String()),
  created_by: Type.String(),
  expires_at: Timestamp,
  last_used_at: OrNull(Timestamp),
  max_uses: OrNull(Count),
  uses: Count,
  wrong_attempts: Count,
  revoked_at: OrNull(Timestamp),
};

/** The record of an auth key, without its secret. `created_by` is a user's id, or `console`. */
export const AuthKeyRecord = Type.Object(authKey, strict);
export type AuthKeyRecord = Static<typeof AuthKeyRecord>;

/** 201 of `POST /api/orgs/{orgID}/auth-keys`. The key is shown only this once. */
export const AuthKeyMinted = Type.Object(
  { ...authKey, auth_key: Type.String(), install_command: Type.String() },
  strict,
);

/** Body of `POST /api/orgs/{orgID}/auth-keys`. Valid for 7 days by default, 90 at most. */
export const MintAuthKeyRequest = Type.Object(
  {
    name: Type.Optional(Label(100)),
    expires_in_s: Type.Optional(Type.Integer({ minimum: 1, maximum: 90 * 24 * 3600 })),
    max_uses: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  },
  strict,
);

/** An interactive attach, as its reviewer sees it. `key_fingerprint` is what the host prints. */
export const BootstrapRecord = Type.Object(
  {
    id: Id("bootstrap"),
    created_at: Timestamp,
    name: Type.String(),
    hostname: Type.String(),
    platform: Type.String(),
    agent_version: Type.String(),
    address: Type.String(),
    public_key: PublicKeyWire,
    key_fingerprint: Type.String(),
    status: Type.Union([Type.Literal("pending"), Type.Literal("approved"), Type.Literal("denied")]),
    expires_at: Timestamp,
    decided_at: OrNull(Timestamp),
    decided_by: OrNull(Type.String()),
    agent_id: OrNull(Id("agent")),
  },
  strict,
);
export type BootstrapRecord = Static<typeof BootstrapRecord>;

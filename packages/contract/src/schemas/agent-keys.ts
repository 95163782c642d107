import { Type, type Static } from "typebox";
import { EnvelopeRequest } from "./log.ts";
import { Id, PublicKeyWire, strict, Timestamp } from "./scalars.ts";

/**
 * Body of `POST /v1/agent/key`: two DSSE envelopes over one in-toto statement (`https://attestore.dev/key-rotation/v1`), in which the key
 * that signs until now vouches for the new one, and the new one shows that it is held.
 */
export const RotateAgentKeyRequest = Type.Object(
  { by_old: EnvelopeRequest, by_new: EnvelopeRequest },
  strict,
);
export type RotateAgentKeyRequest = Static<typeof RotateAgentKeyRequest>;

/**
 * A key that an agent signs with, or did. `valid_until` is by the agent's clock: receipts of runs that ended later are signed with the
 * next one. `rotation` is how the next one took its place; both are null for the key in use.
 */
export const AgentKeyRecord = Type.Object(
  {
    agent_id: Id("agent"),
    public_key: PublicKeyWire,
    key_fingerprint: Type.String(),
    valid_from: Timestamp,
    valid_until: Type.Union([Timestamp, Type.Null()]),
    rotation: Type.Union([RotateAgentKeyRequest, Type.Null()]),
  },
  strict,
);
export type AgentKeyRecord = Static<typeof AgentKeyRecord>;

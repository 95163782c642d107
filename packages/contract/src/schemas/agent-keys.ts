import { Type, type Static } from "typebox";
import { EnvelopeRequest } from "./envelope.ts";
import { Id, PublicKeyWire, strict, Timestamp } from "./scalars.ts";

/**
 * Body of `POST /v1/agent/key`: two DSSE envelopes over one in-toto statement
 * (`https://attestore.dev/key-rotation/v1`). The old key vouches for the new one, and the new key
 * shows that the agent holds it.
 */
export const RotateAgentKeyRequest = Type.Object(
  { by_old: EnvelopeRequest, by_new: EnvelopeRequest },
  strict,
);
export type RotateAgentKeyRequest = Static<typeof RotateAgentKeyRequest>;

/**
 * A current or earlier signing key of an agent. `valid_until` is by the agent's clock: the next key
 * signs the receipts of runs that ended later. `rotation` shows how the next key replaced it. Both
 * are null for the current key.
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

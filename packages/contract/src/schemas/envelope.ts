import { Type, type Static } from "typebox";
import { strict } from "./scalars.ts";

/**
 * Body of `POST /v1/receipts`: a DSSE envelope. `@attestore/proof` checks its signature and
 * statement.
 */
export const EnvelopeRequest = Type.Object(
  {
    payloadType: Type.String(),
    payload: Type.String(),
    signatures: Type.Array(
      Type.Object(
        { keyid: Type.Optional(Type.String({ maxLength: 256 })), sig: Type.String({ maxLength: 1024 }) },
        strict,
      ),
      { minItems: 1, maxItems: 1 },
    ),
  },
  strict,
);
export type EnvelopeRequest = Static<typeof EnvelopeRequest>;

/** A DSSE envelope as it was submitted. */
export const Envelope = Type.Object(
  {
    payloadType: Type.String(),
    payload: Type.String(),
    signatures: Type.Array(Type.Object({ keyid: Type.Optional(Type.String()), sig: Type.String() }, strict)),
  },
  strict,
);
export type Envelope = Static<typeof Envelope>;

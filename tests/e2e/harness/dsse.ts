import type { Signer } from "./keys.ts";

export const IN_TOTO = "application/vnd.in-toto+json";

export interface Envelope {
  payloadType: string;
  payload: string;
  signatures: { keyid: string; sig: string }[];
}

/** The pre-authentication encoding of the DSSE protocol. */
export function pae(payloadType: string, payload: Uint8Array): Buffer {
  const type = Buffer.from(payloadType, "utf8");
  return Buffer.concat([
    Buffer.from(`DSSEv1 ${type.length} `),
    type,
    Buffer.from(` ${payload.length} `),
    payload,
  ]);
}

/**
 * An envelope over the payload; a string or bytes are signed as they are, anything else as JSON.
 */
export function seal(signer: Signer, statement: unknown, payloadType = IN_TOTO): Envelope {
  const payload =
    statement instanceof Uint8Array
      ? Buffer.from(statement)
      : Buffer.from(typeof statement === "string" ? statement : JSON.stringify(statement));
  return {
    payloadType,
    payload: payload.toString("base64"),
    signatures: [{ keyid: signer.keyid, sig: signer.sign(pae(payloadType, payload)).toString("base64") }],
  };
}

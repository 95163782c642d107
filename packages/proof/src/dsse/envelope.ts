import { isLongerThan } from "../bytes.ts";
import { fromEitherBase64, toBase64 } from "../base64.ts";
import { listOf, matching, members, nonEmptyText, requireKnownShape, requireShape } from "../json/shape.ts";
import { parseJson } from "../json/strict-json.ts";
import { ProofError } from "../proof-error.ts";

/** A DSSE envelope with its one signature, decoded. `payload` holds the very bytes that were signed. */
export interface Envelope {
  payloadType: string;
  payload: Uint8Array;
  keyid: string;
  signature: Uint8Array;
}

/** The JSON form (DSSE envelope.md). Binary fields in base64. */
export interface EnvelopeJson {
  payload: string;
  payloadType: string;
  /** Exactly one. DSSE lets `keyid` be absent, which means the same as empty. */
  signatures: [{ keyid?: string; sig: string }];
}

/** Bytes of the JSON text; contract's limit of a receipt. */
export const MAX_ENVELOPE_SIZE = 256 * 1024;

const text = matching((value) => typeof value === "string", "is not a string");
const ENVELOPE = members({
  payload: text,
  payloadType: nonEmptyText,
  signatures: listOf(members({ sig: text }, { keyid: text }), { min: 1, max: 1 }),
});

/**
 * The JSON text of an envelope. Our profile is narrower than DSSE: exactly one signature, no member but DSSE's own, no
 * member twice; either base64 alphabet. Throws `malformed_envelope`, `malformed_json` or `malformed_utf8`.
 */
export function parseEnvelope(source: string | Uint8Array): Envelope {
  if (isLongerThan(source, MAX_ENVELOPE_SIZE))
    throw new ProofError("malformed_envelope", `the envelope is larger than ${MAX_ENVELOPE_SIZE} bytes`);
  const value = parseJson(source);
  requireShape(value, ENVELOPE, "malformed_envelope", "the envelope");
  return envelopeFromJson(value);
}

/**
 * An envelope from JSON already parsed, as it lies in a bundle. Members that are not DSSE's are let pass, as DSSE asks: nothing is
 * made of them. Throws `malformed_envelope`.
 */
export function envelopeFromJson(value: unknown): Envelope {
  requireKnownShape(value, ENVELOPE, "malformed_envelope", "the envelope");
  const { payload, payloadType, signatures } = value as EnvelopeJson;
  const [{ keyid = "", sig }] = signatures;
  return {
    payloadType,
    payload: binary(payload, "/payload"),
    keyid,
    signature: binary(sig, "/signatures/0/sig"),
  };
}

/** The JSON object of an envelope. */
export function envelopeToJson({ payload, payloadType, keyid, signature }: Envelope): EnvelopeJson {
  return { payload: toBase64(payload), payloadType, signatures: [{ keyid, sig: toBase64(signature) }] };
}

/** JSON text that parseEnvelope takes. */
export function formatEnvelope(envelope: Envelope): string {
  return JSON.stringify(envelopeToJson(envelope));
}

function binary(text: string, member: string): Uint8Array {
  try {
    return fromEitherBase64(text);
  } catch {
    throw new ProofError("malformed_envelope", `the envelope is malformed: ${member} is not base64`);
  }
}

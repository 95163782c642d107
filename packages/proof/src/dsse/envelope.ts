import { isLongerThan } from "../bytes.ts";
import { fromEitherBase64, toBase64 } from "../base64.ts";
import { listOf, matching, members, nonEmptyText, requireKnownShape, requireShape } from "../json/shape.ts";
import { parseJson } from "../json/strict-json.ts";
import { ProofError } from "../proof-error.ts";

/**
 * A decoded DSSE envelope with its one signature. `payload` holds exactly the bytes that were
 * signed.
 */
export interface Envelope {
  payloadType: string;
  payload: Uint8Array;
  keyid: string;
  signature: Uint8Array;
}

/** The JSON form (DSSE envelope.md). Binary fields are in base64. */
export interface EnvelopeJson {
  payload: string;
  payloadType: string;
  /** Exactly one signature. DSSE lets `keyid` be absent, which means the same as empty. */
  signatures: [{ keyid?: string; sig: string }];
}

/** The largest JSON text, in bytes. This is the contract's limit for a receipt. */
export const MAX_ENVELOPE_SIZE = 256 * 1024;

const text = matching((value) => typeof value === "string", "is not a string");
const ENVELOPE = members({
  payload: text,
  payloadType: nonEmptyText,
  signatures: listOf(members({ sig: text }, { keyid: text }), { min: 1, max: 1 }),
});

/**
 * Parses the JSON text of an envelope. This profile is narrower than DSSE: exactly one signature,
 * only DSSE's members, and no duplicate members. Either base64 alphabet is accepted. Throws
 * `malformed_envelope`, `malformed_json` or `malformed_utf8`.
 */
export function parseEnvelope(source: string | Uint8Array): Envelope {
  if (isLongerThan(source, MAX_ENVELOPE_SIZE))
    throw new ProofError("malformed_envelope", `the envelope is larger than ${MAX_ENVELOPE_SIZE} bytes`);
  const value = parseJson(source);
  requireShape(value, ENVELOPE, "malformed_envelope", "the envelope");
  return envelopeFromJson(value);
}

/**
 * Parses an envelope from JSON that is already parsed, as in a bundle. Unknown members are ignored,
 * as DSSE requires. Throws `malformed_envelope`.
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

/** Formats the JSON text that parseEnvelope accepts. */
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

import { fromEitherBase64, toBase64 } from "../base64.ts";
import { isObject, parseJson } from "../json/strict-json.ts";
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
  signatures: [{ keyid: string; sig: string }];
}

/** Bytes of the JSON text; contract's limit of a receipt. */
export const MAX_ENVELOPE_SIZE = 256 * 1024;

/**
 * The JSON text of an envelope. Our profile is narrower than DSSE: exactly one signature, no member but DSSE's own, no
 * member twice; either base64 alphabet. Throws `malformed_envelope`, `malformed_json` or `malformed_utf8`.
 */
export function parseEnvelope(source: string | Uint8Array): Envelope {
  if (source.length > MAX_ENVELOPE_SIZE)
    throw new ProofError("malformed_envelope", `the envelope is larger than ${MAX_ENVELOPE_SIZE} bytes`);
  return envelopeFromJson(parseJson(source));
}

/** An envelope from JSON already parsed, as it lies in a bundle. Throws `malformed_envelope`. */
export function envelopeFromJson(value: unknown): Envelope {
  const envelope = members(value, ["payload", "payloadType", "signatures"], "the envelope");
  const { payload, payloadType, signatures } = envelope;
  if (typeof payloadType !== "string" || payloadType === "")
    return refuse("payloadType is not a non-empty string");
  if (!Array.isArray(signatures) || signatures.length !== 1) return refuse("not exactly one signature");
  const { keyid = "", sig } = members(signatures[0], ["keyid", "sig"], "the signature");
  if (typeof keyid !== "string") return refuse("keyid is not a string");
  return {
    payloadType,
    payload: binary(payload, "payload"),
    keyid,
    signature: binary(sig, "sig"),
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

function members(value: unknown, known: readonly string[], what: string): Record<string, unknown> {
  if (!isObject(value)) return refuse(`${what} is not an object`);
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  return unknown === undefined ? value : refuse(`${what} has an unknown member ${JSON.stringify(unknown)}`);
}

function binary(value: unknown, name: string): Uint8Array {
  if (typeof value !== "string") return refuse(`${name} is not a string`);
  try {
    return fromEitherBase64(value);
  } catch {
    return refuse(`${name} is not base64`);
  }
}

function refuse(why: string): never {
  throw new ProofError("malformed_envelope", why);
}

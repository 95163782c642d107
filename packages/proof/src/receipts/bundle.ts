import { MAX_ENVELOPE_SIZE, envelopeFromJson, type Envelope, type EnvelopeJson } from "../dsse/envelope.ts";
import { isLongerThan } from "../bytes.ts";
import { anyObject, listOf, members, nonEmptyText, requireKnownShape, wholeNumber } from "../json/shape.ts";
import { isObject, parseJson } from "../json/strict-json.ts";
import { parsePublicKeyWire } from "../keys/public-key.ts";
import { serviceEventFromJson, type ServiceEventBundle } from "../log/service-event.ts";
import { MAX_GENERATION } from "../log/generation-name.ts";
import { leafFromJson, type Leaf } from "../log/leaf.ts";
import { parseVerifierKey } from "../notes/verifier-key.ts";
import { ProofError } from "../proof-error.ts";
import { base64Text, sha256Hex } from "../shapes.ts";

/**
 * A receipt with the proof that it is in the log, as JSON. The keys in it are claims and never
 * trusted.
 */
export interface ReceiptBundle {
  envelope: EnvelopeJson;
  /** The agent's key in wire form: base64 of 32 bytes (Ed25519) or of a 91-byte SPKI (P-256). */
  public_key: string;
  leaf: Leaf;
  /** Hashes in hex, the leaf's sibling first. */
  inclusion_proof: { log_index: number; tree_size: number; hashes: string[] };
  /** A signed note. */
  checkpoint: string;
  log: { origin: string; verifier_key: string };
  /**
   * Only if the checkpoint is of a later generation of the log: the events that began each of them,
   * in their order, each proven in that generation's first head.
   */
  generations?: ServiceEventBundle[];
}

/** The largest JSON text, in bytes. */
export const MAX_BUNDLE_SIZE = 2 * MAX_ENVELOPE_SIZE;

const BUNDLE = members(
  {
    envelope: anyObject,
    public_key: base64Text,
    leaf: anyObject,
    inclusion_proof: members({
      log_index: wholeNumber,
      tree_size: wholeNumber,
      hashes: listOf(sha256Hex, { max: 64 }),
    }),
    checkpoint: nonEmptyText,
    log: members({ origin: nonEmptyText, verifier_key: nonEmptyText }),
  },
  { generations: listOf(anyObject, { max: MAX_GENERATION }) },
);

/**
 * Parses the JSON text of a bundle and checks its form only. Members of a later version are
 * ignored. Throws `not_a_receipt` for more than MAX_BUNDLE_SIZE bytes, `malformed_*`, or
 * `unknown_version` for a part of a later version.
 */
export function parseBundle(source: string | Uint8Array): ReceiptBundle {
  requireSize(source);
  return bundleFromJson(parseJson(source));
}

/**
 * Checks the form of a bundle whose JSON is already parsed. Members of a later version are ignored.
 * Throws `malformed_*`, or `unknown_version` for a part of a later version.
 */
export function bundleFromJson(value: unknown): ReceiptBundle {
  requireKnownShape(value, BUNDLE, "malformed_bundle", "the bundle");
  const bundle = value as ReceiptBundle;
  envelopeFromJson(bundle.envelope);
  leafFromJson(bundle.leaf);
  parsePublicKeyWire(bundle.public_key);
  parseVerifierKey(bundle.log.verifier_key);
  for (const event of bundle.generations ?? []) serviceEventFromJson(event);
  return bundle;
}

export type Receipt = { envelope: Envelope } | { bundle: ReceiptBundle };

/**
 * Parses a file that holds an envelope or a bundle and tells them apart by their members. Throws
 * `not_a_receipt`, `malformed_json` or `malformed_utf8` if it is neither, otherwise the
 * `malformed_*` of the part that is wrong.
 */
export function parseReceipt(source: string | Uint8Array): Receipt {
  requireSize(source);
  const value = parseJson(source);
  if (isObject(value) && "envelope" in value) return { bundle: bundleFromJson(value) };
  if (isObject(value) && "payload" in value && "signatures" in value)
    return { envelope: envelopeFromJson(value) };
  throw new ProofError("not_a_receipt", "neither a DSSE envelope nor a receipt bundle");
}

function requireSize(source: string | Uint8Array): void {
  if (isLongerThan(source, MAX_BUNDLE_SIZE))
    throw new ProofError("not_a_receipt", `larger than ${MAX_BUNDLE_SIZE} bytes: no receipt or bundle is`);
}

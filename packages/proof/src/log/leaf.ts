import { fromBase64 } from "../base64.ts";
import { equalBytes, utf8 } from "../bytes.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { isObject, parseJson } from "../json/strict-json.ts";
import { ProofError } from "../proof-error.ts";
import { isSha256, isTimestamp, isTypeId } from "../shapes.ts";

/** What the log holds of a receipt or event: enough to bind it, nothing of what the checks saw. */
export interface Leaf {
  v: 1;
  /** Of a receipt `backup` or `restore_test`; of an event its kind. */
  kind: string;
  org_id: string;
  /** `rcpt_…` or `evt_…`. */
  id: string;
  /** Who did it: of a receipt the agent (`agent_…`); `service` where the service itself did. */
  actor_id: string;
  /** RFC 3339, UTC, milliseconds. */
  recorded_at: string;
  /** Hex SHA-256 of the envelope's payload bytes (receipt) or of the JCS bytes of the event. */
  body_sha256: string;
  /** Of a receipt, always: the envelope's signature in standard base64. */
  signature?: string;
}

/** A C2SP entry bundle gives each leaf a 16-bit length. */
export const MAX_LEAF_SIZE = 65_535;

const MEMBERS = ["v", "kind", "org_id", "id", "actor_id", "recorded_at", "body_sha256", "signature"];

/** The leaf's bytes: RFC 8785 JSON with `v` added. Throws `malformed_leaf` rather than log what parseLeaf refuses. */
export function formatLeaf(fields: Omit<Leaf, "v">): Uint8Array {
  const leaf = leafFromJson({ ...fields, v: 1 });
  const bytes = utf8(canonicalJson(leaf));
  if (bytes.length > MAX_LEAF_SIZE) refuse(`larger than ${MAX_LEAF_SIZE} bytes`);
  return bytes;
}

/** Strict: these bytes are exactly what formatLeaf makes of the result. Throws `malformed_leaf`. */
export function parseLeaf(bytes: Uint8Array): Leaf {
  if (bytes.length > MAX_LEAF_SIZE) refuse(`larger than ${MAX_LEAF_SIZE} bytes`);
  let value: unknown;
  try {
    value = parseJson(bytes);
  } catch {
    return refuse("not JSON");
  }
  const leaf = leafFromJson(value);
  return equalBytes(formatLeaf(leaf), bytes) ? leaf : refuse("not in canonical form");
}

/** A leaf from JSON already parsed, as it lies in a bundle. Throws `malformed_leaf`. */
export function leafFromJson(value: unknown): Leaf {
  if (!isObject(value)) return refuse("not an object");
  const unknown = Object.keys(value).find((key) => !MEMBERS.includes(key));
  if (unknown !== undefined) refuse(`unknown member ${JSON.stringify(unknown)}`);
  const { v, kind, org_id, id, actor_id, recorded_at, body_sha256, signature } = value;
  if (v !== 1) return refuse("v is not 1");
  if (typeof kind !== "string" || !/^[a-z][a-z0-9_]{0,63}$/.test(kind))
    return refuse("kind is not a kind's name");
  if (!isTypeId(org_id, "org")) return refuse("org_id is not an organisation's id");
  if (!isTypeId(id)) return refuse("id is not an id");
  if (actor_id !== "service" && !isTypeId(actor_id)) return refuse("actor_id is neither an id nor `service`");
  if (!isTimestamp(recorded_at)) return refuse("recorded_at is not a UTC time with milliseconds");
  if (!isSha256(body_sha256)) return refuse("body_sha256 is not a hex SHA-256");
  const required: Leaf = { v, kind, org_id, id, actor_id, recorded_at, body_sha256 };
  if (!("signature" in value)) return required;
  return { ...required, signature: base64(signature) };
}

function base64(value: unknown): string {
  if (typeof value !== "string") return refuse("signature is not a string");
  try {
    fromBase64(value);
    return value;
  } catch {
    return refuse("signature is not standard base64");
  }
}

function refuse(why: string): never {
  throw new ProofError("malformed_leaf", `the leaf is malformed: ${why}`);
}

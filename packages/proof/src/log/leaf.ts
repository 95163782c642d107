import { equalBytes, utf8 } from "../bytes.ts";
import { matching, members, oneOf, requireShape } from "../json/shape.ts";
import { isObject, parseJson } from "../json/strict-json.ts";
import { ProofError } from "../proof-error.ts";
import { base64Text, isTypeId, sha256Hex, timestamp, typeId } from "../shapes.ts";

/**
 * What the log stores about a receipt or event: enough to bind it, and nothing that the checks saw.
 */
export interface Leaf {
  v: 1;
  /** For a receipt `backup` or `restore_test`; for an event its kind. */
  kind: string;
  org_id: string;
  /** `rcpt_…` or `evt_…`. */
  id: string;
  /**
   * Who did it: an agent (`agent_…`), or `service` if the service itself acted. For a receipt,
   * always the agent.
   */
  actor_id: string;
  /** RFC 3339, UTC, milliseconds. */
  recorded_at: string;
  /** Hex SHA-256 of the envelope's payload bytes (receipt) or of the event's JCS bytes. */
  body_sha256: string;
  /** The envelope's signature in standard base64. Every receipt has one. */
  signature?: string;
}

/** A C2SP entry bundle stores each leaf's length in 16 bits. */
export const MAX_LEAF_SIZE = 65_535;

const KIND = /^[a-z][a-z0-9_]{0,63}$/;

export const LEAF_SHAPE = members(
  {
    v: oneOf(1),
    kind: matching((value) => typeof value === "string" && KIND.test(value), "is not the name of a kind"),
    org_id: typeId("org"),
    id: matching((value) => isTypeId(value), "is not an id"),
    actor_id: matching((value) => value === "service" || isTypeId(value), "is neither an id nor `service`"),
    recorded_at: timestamp,
    body_sha256: sha256Hex,
  },
  { signature: base64Text },
);

/**
 * Formats the leaf's bytes: RFC 8785 JSON with `v` added. Throws `malformed_leaf` for anything that
 * parseLeaf would refuse.
 */
export function formatLeaf(fields: Omit<Leaf, "v">): Uint8Array {
  const { actor_id, body_sha256, id, kind, org_id, recorded_at, signature, v } = leafFromJson({
    ...fields,
    v: 1,
  });
  // Everything here is plain ASCII, so canonical JSON is plain JSON with its members in this order.
  const sorted = { actor_id, body_sha256, id, kind, org_id, recorded_at, signature, v };
  const bytes = utf8(JSON.stringify(sorted));
  if (bytes.length > MAX_LEAF_SIZE) refuse(`larger than ${MAX_LEAF_SIZE} bytes`);
  return bytes;
}

/**
 * Parses a leaf strictly: the bytes must be exactly what formatLeaf makes of the result. Throws
 * `malformed_leaf` or `unknown_version`.
 */
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

/**
 * Parses a leaf from JSON that is already parsed, as in a bundle. Throws `malformed_leaf`. Throws
 * `unknown_version` for a later version, which can only be hashed as it is.
 */
export function leafFromJson(value: unknown): Leaf {
  const v = isObject(value) ? value["v"] : undefined;
  if (Number.isSafeInteger(v) && Number(v) > 1)
    throw new ProofError("unknown_version", `the leaf is of version ${String(v)}, and 1 is known here`);
  requireShape(value, LEAF_SHAPE, "malformed_leaf", "the leaf");
  return value as Leaf;
}

/** Whether the service wrote this entry by itself, and no agent or person caused it. */
export function isServiceLeaf({ actor_id, signature }: Leaf): boolean {
  return signature === undefined && actor_id === "service";
}

function refuse(why: string): never {
  throw new ProofError("malformed_leaf", `the leaf is malformed: ${why}`);
}

import { equalBytes, utf8 } from "../bytes.ts";
import { matching, members, oneOf, requireShape } from "../json/shape.ts";
import { isObject, parseJson } from "../json/strict-json.ts";
import { ProofError } from "../proof-error.ts";
import { base64Text, isTypeId, sha256Hex, timestamp, typeId } from "../shapes.ts";

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

const KIND = /^[a-z][a-z0-9_]{0,63}$/;

const LEAF = members(
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

/** The leaf's bytes: RFC 8785 JSON with `v` added. Throws `malformed_leaf` rather than log what parseLeaf refuses. */
export function formatLeaf(fields: Omit<Leaf, "v">): Uint8Array {
  const { actor_id, body_sha256, id, kind, org_id, recorded_at, signature, v } = leafFromJson({
    ...fields,
    v: 1,
  });
  // All of it is plain ASCII by now, so that canonical JSON is JSON with its members in this order.
  const sorted = { actor_id, body_sha256, id, kind, org_id, recorded_at, signature, v };
  const bytes = utf8(JSON.stringify(sorted));
  if (bytes.length > MAX_LEAF_SIZE) refuse(`larger than ${MAX_LEAF_SIZE} bytes`);
  return bytes;
}

/** Strict: these bytes are exactly what formatLeaf makes of the result. Throws `malformed_leaf`, `unknown_version`. */
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
 * A leaf from JSON already parsed, as it lies in a bundle. Throws `malformed_leaf`; `unknown_version` for one of a later version, of which
 * nothing is known but that it is an object and hashed as it stands.
 */
export function leafFromJson(value: unknown): Leaf {
  const v = isObject(value) ? value["v"] : undefined;
  if (Number.isSafeInteger(v) && Number(v) > 1)
    throw new ProofError("unknown_version", `the leaf is of version ${String(v)}, and 1 is known here`);
  requireShape(value, LEAF, "malformed_leaf", "the leaf");
  return value as Leaf;
}

function refuse(why: string): never {
  throw new ProofError("malformed_leaf", `the leaf is malformed: ${why}`);
}

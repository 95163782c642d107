import { sha256 } from "#sha256";
import { utf8 } from "../bytes.ts";
import { toHex } from "../hex.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { anyObject, listOf, members, nonEmptyText, requireKnownShape, wholeNumber } from "../json/shape.ts";
import { ProofError } from "../proof-error.ts";
import { sha256Hex, timestamp } from "../shapes.ts";
import { isServiceLeaf, leafFromJson, type Leaf } from "./leaf.ts";

/** An event that the service itself wrote, with the proof that it is in the log. */
export interface ServiceEventBundle {
  event: { kind: string; occurred_at: string; detail: Record<string, unknown> };
  leaf: Leaf;
  /** Hashes in hex, the leaf's sibling first. */
  inclusion_proof: { log_index: number; tree_size: number; hashes: string[] };
  /** A signed note. */
  checkpoint: string;
  log: { origin: string; verifier_key: string };
}

const SERVICE_EVENT = members({
  event: members({ kind: nonEmptyText, occurred_at: timestamp, detail: anyObject }),
  leaf: anyObject,
  inclusion_proof: members({
    log_index: wholeNumber,
    tree_size: wholeNumber,
    hashes: listOf(sha256Hex, { max: 64 }),
  }),
  checkpoint: nonEmptyText,
  log: members({ origin: nonEmptyText, verifier_key: nonEmptyText }),
});

/**
 * Checks the form, and that the leaf is the service's own and covers the event. Does not verify the
 * proof. Throws `malformed_*`.
 */
export function serviceEventFromJson(value: unknown): ServiceEventBundle {
  requireKnownShape(value, SERVICE_EVENT, "malformed_event", "the event of the log");
  const bundle = value as unknown as ServiceEventBundle;
  const { event, leaf: json } = bundle;
  const leaf = leafFromJson(json);
  if (!leaf.id.startsWith("evt_") || leaf.kind !== event.kind || !isServiceLeaf(leaf))
    throw malformed("its leaf is not that of a service event");
  if (leaf.body_sha256 !== toHex(sha256(utf8(canonicalJson(event)))))
    throw malformed("it is not the event that its leaf covers");
  return bundle;
}

function malformed(why: string): ProofError {
  return new ProofError("malformed_event", `the event is malformed: ${why}`);
}

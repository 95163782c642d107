import { listOf, anyObject, members, nonEmptyText, requireKnownShape, wholeNumber } from "../json/shape.ts";
import { parseJson } from "../json/strict-json.ts";
import { leafFromJson } from "../log/leaf.ts";
import { ProofError } from "../proof-error.ts";
import { sha256Hex } from "../shapes.ts";
import type { EventBundle } from "./event-bundle.ts";

/**
 * The leaf of a receipt or signed event and its proof, without the body. The agent's next statement
 * refers to it by `body_sha256`.
 */
export type Predecessor = Omit<EventBundle, "event" | "envelope">;

const PREDECESSOR = members({
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
 * Parses its form. Throws `malformed_*`, or `malformed_evidence` if the leaf belongs to something
 * that no agent signed.
 */
export function parsePredecessor(source: Uint8Array): Predecessor {
  const value = parseJson(source);
  requireKnownShape(value, PREDECESSOR, "malformed_evidence", "the predecessor");
  const predecessor = value as unknown as Predecessor;
  const { id, signature } = leafFromJson(predecessor.leaf);
  if (!id.startsWith("rcpt_") && !(id.startsWith("evt_") && signature !== undefined))
    throw new ProofError("malformed_evidence", "the leaf belongs to neither a receipt nor a signed event");
  return predecessor;
}

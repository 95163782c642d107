import { listOf, anyObject, members, nonEmptyText, requireKnownShape, wholeNumber } from "../json/shape.ts";
import { parseJson } from "../json/strict-json.ts";
import { leafFromJson } from "../log/leaf.ts";
import { ProofError } from "../proof-error.ts";
import { sha256Hex } from "../shapes.ts";
import type { EventBundle } from "./event-bundle.ts";

/** A receipt's leaf and its proof, without the receipt: what an agent's next receipt names by `body_sha256`. */
export type Predecessor = Omit<EventBundle, "event">;

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

/** Its form. Throws `malformed_*`, or `malformed_evidence` for the leaf of anything but a receipt. */
export function parsePredecessor(source: Uint8Array): Predecessor {
  const value = parseJson(source);
  requireKnownShape(value, PREDECESSOR, "malformed_evidence", "the predecessor");
  const predecessor = value as unknown as Predecessor;
  if (!leafFromJson(predecessor.leaf).id.startsWith("rcpt_"))
    throw new ProofError("malformed_evidence", "the leaf is not a receipt's");
  return predecessor;
}

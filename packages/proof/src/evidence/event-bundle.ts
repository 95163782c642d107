import type { EnvelopeJson } from "../dsse/envelope.ts";
import { listOf, anyObject, members, nonEmptyText, requireKnownShape, wholeNumber } from "../json/shape.ts";
import { parseJson } from "../json/strict-json.ts";
import { leafFromJson, type Leaf } from "../log/leaf.ts";
import { sha256Hex } from "../shapes.ts";
import { EVENT_SHAPE, requireEventLeaf, type LoggedEvent } from "./event-statement.ts";

/** An event with its proof that it is in the log: of an event what a ReceiptBundle is of a receipt. */
export interface EventBundle {
  event: LoggedEvent;
  /** What its agent signed, if it did. */
  envelope?: EnvelopeJson;
  leaf: Leaf;
  inclusion_proof: { log_index: number; tree_size: number; hashes: string[] };
  checkpoint: string;
  log: { origin: string; verifier_key: string };
}

const EVENT_BUNDLE = members(
  {
    event: EVENT_SHAPE,
    leaf: anyObject,
    inclusion_proof: members({
      log_index: wholeNumber,
      tree_size: wholeNumber,
      hashes: listOf(sha256Hex, { max: 64 }),
    }),
    checkpoint: nonEmptyText,
    log: members({ origin: nonEmptyText, verifier_key: nonEmptyText }),
  },
  { envelope: anyObject },
);

/**
 * Its form, and that the leaf covers the event, and the envelope where there is one; not whose signature that has. Throws `malformed_*`.
 */
export function parseEventBundle(source: Uint8Array): EventBundle {
  const value = parseJson(source);
  requireKnownShape(value, EVENT_BUNDLE, "malformed_evidence", "the event's bundle");
  const bundle = value as unknown as EventBundle;
  requireEventLeaf(leafFromJson(bundle.leaf), bundle.event, bundle.envelope);
  return bundle;
}

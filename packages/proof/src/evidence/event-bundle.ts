import type { EnvelopeJson } from "../dsse/envelope.ts";
import { listOf, anyObject, members, nonEmptyText, requireKnownShape, wholeNumber } from "../json/shape.ts";
import { parseJson } from "../json/strict-json.ts";
import { leafFromJson, type Leaf } from "../log/leaf.ts";
import { sha256Hex } from "../shapes.ts";
import { EVENT_SHAPE, requireEventLeaf, type LoggedEvent } from "./event-statement.ts";

/** An event with the proof that it is in the log, as ReceiptBundle is for a receipt. */
export interface EventBundle {
  event: LoggedEvent;
  /** The agent's signed envelope, if the agent signed the event. */
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
 * Parses an event bundle and checks that the leaf covers the event, and the envelope if there is
 * one. Does not verify the signature. Throws `malformed_*`.
 */
export function parseEventBundle(source: Uint8Array): EventBundle {
  const value = parseJson(source);
  requireKnownShape(value, EVENT_BUNDLE, "malformed_evidence", "the event's bundle");
  const bundle = value as unknown as EventBundle;
  requireEventLeaf(leafFromJson(bundle.leaf), bundle.event, bundle.envelope);
  return bundle;
}

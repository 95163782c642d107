import { sha256 } from "#sha256";
import { utf8 } from "../bytes.ts";
import { toHex } from "../hex.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { anyObject, listOf, members, nonEmptyText, requireKnownShape, wholeNumber } from "../json/shape.ts";
import { parseJson } from "../json/strict-json.ts";
import { leafFromJson, type Leaf } from "../log/leaf.ts";
import { ProofError } from "../proof-error.ts";
import { sha256Hex, timestamp, typeId } from "../shapes.ts";

/** An event as it was submitted: what its leaf's `body_sha256` covers, in RFC 8785 form. */
export interface LoggedEvent {
  kind: string;
  source_id?: string;
  backup_id?: string;
  command_id?: string;
  occurred_at: string;
  detail: Record<string, unknown>;
}

/** An event with its proof that it is in the log: of an event what a ReceiptBundle is of a receipt. */
export interface EventBundle {
  event: LoggedEvent;
  leaf: Leaf;
  inclusion_proof: { log_index: number; tree_size: number; hashes: string[] };
  checkpoint: string;
  log: { origin: string; verifier_key: string };
}

const EVENT_BUNDLE = members({
  event: members(
    { kind: nonEmptyText, occurred_at: timestamp, detail: anyObject },
    { source_id: typeId("src"), backup_id: typeId("bkp"), command_id: typeId("cmd") },
  ),
  leaf: anyObject,
  inclusion_proof: members({
    log_index: wholeNumber,
    tree_size: wholeNumber,
    hashes: listOf(sha256Hex, { max: 64 }),
  }),
  checkpoint: nonEmptyText,
  log: members({ origin: nonEmptyText, verifier_key: nonEmptyText }),
});

/** Its form, and that the leaf covers the event. Throws `malformed_*`, or `malformed_evidence` where it does not. */
export function parseEventBundle(source: Uint8Array): EventBundle {
  const value = parseJson(source);
  requireKnownShape(value, EVENT_BUNDLE, "malformed_evidence", "the event's bundle");
  const bundle = value as unknown as EventBundle;
  const leaf = leafFromJson(bundle.leaf);
  if (leaf.kind !== bundle.event.kind || !leaf.id.startsWith("evt_"))
    throw new ProofError("malformed_evidence", "the leaf is not of this event");
  if (leaf.body_sha256 !== toHex(sha256(utf8(canonicalJson(bundle.event)))))
    throw new ProofError("malformed_evidence", "the event is not the one that its leaf covers");
  return bundle;
}

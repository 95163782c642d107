import { fromUtf8, toHex, type Hash } from "@attestore/proof";
import type { WireAnswer } from "../platform/http/answer.ts";

/** Where an entry stands in its log, and the proof of it. */
export interface Placement {
  /** The entry's, as its leaf says. */
  id: string;
  origin: string;
  logIndex: number;
  leaf: Uint8Array;
  leafHash: Hash;
  treeSize: number;
  /** Inclusion proof in the tree of `treeSize` leaves. */
  hashes: readonly Hash[];
  /** The signed head of that size. */
  checkpoint: string;
}

/**
 * The 201 of a submission, ReceiptAccepted or EventAccepted of the contract. Its bytes are a function of the placement alone: a
 * remembered answer is kept as index and tree size, and made again from them.
 */
export function placementAnswer(
  idField: "receipt_id" | "event_id",
  placement: Placement,
  replayed: boolean,
): WireAnswer {
  const { id, origin, logIndex, leaf, leafHash, treeSize, hashes, checkpoint } = placement;
  const proof = hashes.map((hash) => `"${toHex(hash)}"`).join(",");
  const body =
    `{"${idField}":"${id}","log_index":${logIndex},"leaf":${fromUtf8(leaf)},"leaf_hash":"${toHex(leafHash)}",` +
    `"log_id":${JSON.stringify(origin)},` +
    `"inclusion_proof":{"log_index":${logIndex},"tree_size":${treeSize},"hashes":[${proof}]},` +
    `"checkpoint":${JSON.stringify(checkpoint)}}`;
  return { status: 201, body: Buffer.from(body), replayed };
}

import { toHex, type Hash } from "@attestore/proof";
import type { Inclusion } from "../../log/heads/inclusion.ts";
import type { WireAnswer } from "../../platform/http/route/answer.ts";

/**
 * The 201 of a submission, ReceiptAccepted or EventAccepted of the contract. Its bytes depend only
 * on the inclusion: a remembered answer is stored as index and tree size, and made again from them.
 */
export function inclusionAnswer(
  idField: "receipt_id" | "event_id",
  inclusion: Inclusion,
  replayed: boolean,
): WireAnswer {
  const { id, origin, logIndex, leaf, leafHash, treeSize, hashes, checkpoint } = inclusion;
  // Leaves and hex are ASCII. A checkpoint's dash is not: kept apart, it does not turn all of this
  // text into a two-byte string.
  const ascii =
    `{"${idField}":"${id}","log_index":${logIndex},"leaf":${asciiText(leaf)},"leaf_hash":"${toHex(leafHash)}",` +
    `"log_id":${JSON.stringify(origin)},"inclusion_proof":{"log_index":${logIndex},"tree_size":${treeSize},` +
    `"hashes":[${hashList(hashes)}]},"checkpoint":`;
  const body = Buffer.concat([Buffer.from(ascii, "latin1"), checkpointTail(checkpoint)]);
  return { status: 201, body, replayed };
}

function asciiText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

function hashList(hashes: readonly Hash[]): string {
  if (hashes.length === 0) return "";
  const hex = Buffer.concat(hashes).toString("hex");
  return `"${hashes.map((_, n) => hex.slice(n * 64, n * 64 + 64)).join('","')}"`;
}

let lastTail = { checkpoint: "", bytes: Buffer.alloc(0) };

/** All answers of one batch to one organisation end in the same checkpoint. */
function checkpointTail(checkpoint: string): Buffer {
  if (lastTail.checkpoint !== checkpoint)
    lastTail = { checkpoint, bytes: Buffer.from(`${JSON.stringify(checkpoint)}}`) };
  return lastTail.bytes;
}

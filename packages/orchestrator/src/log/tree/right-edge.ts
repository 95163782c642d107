import { CompactRange, compactRangeCoordinates, equalBytes, type Hash } from "@attestore/proof";
import { unpackHashes } from "../../platform/database/packed.ts";

/** A tree's right edge as the log's row has it; null if it is damaged: it gives another root. */
export function readRightEdge(size: number, rootHash: Uint8Array, bytes: Buffer): CompactRange | null {
  try {
    const range = CompactRange.from(size, unpackHashes(bytes));
    return equalBytes(range.root(), rootHash) ? range : null;
  } catch {
    return null;
  }
}

/** Its nodes, by level and index. */
export function nodesOfEdge({ size, hashes }: CompactRange): Map<string, Hash> {
  return new Map(
    compactRangeCoordinates(size).flatMap(({ level, index }, n) => {
      const hash = hashes[n];
      return hash === undefined ? [] : [[`${level}/${index}`, hash] as const];
    }),
  );
}

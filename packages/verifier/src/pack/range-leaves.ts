import {
  decodeEntryBundle,
  entriesFile,
  type LogRange,
  parseLeaf,
  TILE_WIDTH,
  type Leaf,
} from "@attestore/proof";
import type { PackFiles } from "./pack-files.ts";

/** 256 leaves of the largest size. */
const MAX_ENTRIES = TILE_WIDTH * (65_535 + 2);

export interface RangeLeaf {
  index: number;
  leaf: Leaf;
}

/** The bytes of the range's leaves in the log's order. Throws ProofError or ZipError. */
export async function* leafBytes(
  files: PackFiles,
  { from_index, to_index }: LogRange,
): AsyncGenerator<{ index: number; bytes: Uint8Array }> {
  for (let first = from_index; first < to_index; first += TILE_WIDTH) {
    const count = Math.min(TILE_WIDTH, to_index - first);
    const entries = decodeEntryBundle(await files.read(entriesFile(first, count), MAX_ENTRIES), count);
    for (const [n, bytes] of entries.entries()) yield { index: first + n, bytes };
  }
}

/** The leaves of a range that was checked, read again. */
export async function* leavesAgain(files: PackFiles, range: LogRange): AsyncGenerator<RangeLeaf> {
  for await (const { index, bytes } of leafBytes(files, range)) yield { index, leaf: parseLeaf(bytes) };
}

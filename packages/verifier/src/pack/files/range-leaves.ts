import {
  decodeEntryBundle,
  entriesFile,
  type LogRange,
  parseLeaf,
  ProofError,
  TILE_WIDTH,
  type Leaf,
} from "@attestore/proof";
import type { PackFiles } from "./pack-files.ts";
import { refuseChanged } from "./refuse-changed.ts";

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

/**
 * The leaves of a range that was checked, read again, without those of a later version. Throws
 * CannotTell if the pack was changed meanwhile.
 */
export async function* leavesAgain(files: PackFiles, range: LogRange): AsyncGenerator<RangeLeaf> {
  try {
    for await (const { index, bytes } of leafBytes(files, range)) {
      const leaf = knownLeaf(bytes);
      if (leaf !== null) yield { index, leaf };
    }
  } catch (error) {
    refuseChanged("a file with leaves", error);
  }
}

function knownLeaf(bytes: Uint8Array): Leaf | null {
  try {
    return parseLeaf(bytes);
  } catch (error) {
    if (error instanceof ProofError && error.code === "unknown_version") return null;
    throw error;
  }
}

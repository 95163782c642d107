import { type FileKind, type FileName, readFileName } from "./file-kinds.ts";
import { hasKnownFormat } from "./file-formats.ts";
import { looksRandom } from "./looks-random.ts";

/** So much of a place in a file is looked at. */
const LOOKED_AT = 4096;
/** With fewer bytes nobody can tell. */
const MIN_BYTES = 128;
/** Random bytes are at 255, give or take 23. */
const UNIFORM = 255 + 6 * 23;
const TEXT_BYTES = 256;

/** Facts about a file; none of them is its content. */
export interface LookedAt extends FileName {
  /**
   * Whether it begins like none of the kind that its name says; null if that kind has no format.
   */
  readonly isMismatched: boolean | null;
  /** Bits in a byte of its start; null if it is too short. */
  readonly entropy: number | null;
  readonly isRandom: boolean;
}

/** Kinds whose files begin in a known way. */
const WITH_FORMAT: ReadonlySet<FileKind> = new Set([
  "pictures",
  "documents",
  "archives",
  "recordings",
  "databases",
]);

/** `piece` is the beginning of the file: ciphertext is often written behind an intact start. */
export function lookAtFile(name: string, piece: Buffer): LookedAt {
  const named = readFileName(name);
  const start = piece.subarray(0, LOOKED_AT);
  const isKnown = hasKnownFormat(start);
  const counts = countsOf(start);
  return {
    ...named,
    isMismatched: WITH_FORMAT.has(named.kind)
      ? !isKnown
      : named.kind === "texts" && start.length > 0
        ? isBinary(start, counts)
        : null,
    entropy: start.length < MIN_BYTES ? null : entropyOf(counts, start.length),
    isRandom: !isKnown && (isUniform(counts, start.length) || isUniformLater(piece) || isCipherText(start)),
  };
}

function isUniformLater(piece: Buffer): boolean {
  if (piece.length <= 2 * LOOKED_AT) return false;
  const middle = Math.floor(piece.length / 2);
  const later = piece.subarray(middle, middle + LOOKED_AT);
  return isUniform(countsOf(later), later.length);
}

/** The chi-squared test. Compressed data seldom pass it, text never. */
function isUniform(counts: Uint32Array, bytes: number): boolean {
  if (bytes < MIN_BYTES) return false;
  let squares = 0;
  for (const count of counts) squares += count * count;
  return (squares * 256) / bytes - bytes < UNIFORM;
}

function isCipherText(start: Buffer): boolean {
  return looksRandom(start.toString("utf8", 0, TEXT_BYTES)) && !start.subarray(0, TEXT_BYTES).includes(0);
}

/** Zeros or many control bytes, unless it is UTF-16. */
function isBinary(start: Buffer, counts: Uint32Array): boolean {
  const mark = start.toString("hex", 0, 2);
  if (mark === "fffe" || mark === "feff") return false;
  let control = 0;
  for (const [byte, count] of counts.entries())
    if (byte < 32 && ![9, 10, 12, 13, 27].includes(byte)) control += count;
  return control * 50 > start.length;
}

function countsOf(bytes: Buffer): Uint32Array {
  const counts = new Uint32Array(256);
  for (const byte of bytes) counts[byte] = (counts[byte] ?? 0) + 1;
  return counts;
}

function entropyOf(counts: Uint32Array, bytes: number): number {
  let bits = 0;
  for (const count of counts) if (count > 0) bits -= (count / bytes) * Math.log2(count / bytes);
  return bits;
}

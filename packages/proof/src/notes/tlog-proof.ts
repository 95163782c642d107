import { fromBase64, toBase64 } from "../base64.ts";
import { HASH_SIZE, type Hash } from "../bytes.ts";
import { parseUint64 } from "../uint64.ts";
import { ProofError } from "../proof-error.ts";
import { parseNote } from "./note.ts";

/** A C2SP tlog-proof. Open the checkpoint and verify the proof before you believe any of it. */
export interface TlogProof {
  /** Not authenticated. */
  extra?: Uint8Array;
  index: bigint;
  hashes: Hash[];
  /** The signed note, verbatim. */
  checkpoint: string;
}

const HEADER = "c2sp.org/tlog-proof@v1";
const MAX_HASHES = 64;

/** Formats a `.tlog-proof` file. Throws `malformed_tlog_proof`. */
export function formatTlogProof({ extra, index, hashes, checkpoint }: TlogProof): string {
  const lines = [
    HEADER,
    ...(extra === undefined ? [] : [`extra ${toBase64(extra)}`]),
    `index ${index}`,
    ...hashes.map(toBase64),
  ];
  const text = `${lines.join("\n")}\n\n${checkpoint}`;
  parseTlogProof(text);
  return text;
}

/** Parses a `.tlog-proof` file. Throws `malformed_tlog_proof`. */
export function parseTlogProof(text: string): TlogProof {
  const end = text.indexOf("\n\n");
  if (end < 0) refuse("no empty line before the checkpoint");
  const [header, ...lines] = text.slice(0, end).split("\n");
  if (header !== HEADER) refuse(`the first line is not ${HEADER}`);
  const extraLine = lines[0]?.startsWith("extra ") ? lines.shift() : undefined;
  const [, digits = ""] = /^index (.+)$/.exec(lines.shift() ?? "") ?? [];
  const index = parseUint64(digits);
  if (index === undefined) return refuse("no line with the index");
  if (lines.length > MAX_HASHES) refuse(`more than ${MAX_HASHES} hashes`);
  const hashes = lines.map(decode);
  if (hashes.some((hash) => hash.length !== HASH_SIZE)) refuse("a hash is not 32 bytes");
  const checkpoint = text.slice(end + 2);
  requireNote(checkpoint);
  return {
    ...(extraLine === undefined ? {} : { extra: decode(extraLine.slice("extra ".length)) }),
    index,
    hashes,
    checkpoint,
  };
}

function requireNote(checkpoint: string): void {
  try {
    parseNote(checkpoint);
  } catch {
    refuse("what follows the empty line is not a signed note");
  }
}

function decode(line: string): Uint8Array {
  try {
    return fromBase64(line);
  } catch {
    return refuse("a line is not base64");
  }
}

function refuse(why: string): never {
  throw new ProofError("malformed_tlog_proof", `not a tlog-proof: ${why}`);
}

/** A ustar header (POSIX.1-2017 pax, "ustar Interchange Format"). Its names are bytes (latin1). */
export interface TarHeader {
  readonly type: string;
  readonly name: string;
  readonly mode: number;
  readonly user: number;
  readonly group: number;
  /** Bytes of the archive that follow, without their padding. */
  readonly size: number;
  readonly linkName: string;
  /** Seconds since 1970. */
  readonly modified: number;
}

/** Our dump would not make such an archive. Messages contain no names and no content. */
export class MalformedArchive extends Error {
  readonly code = "archive_malformed";
  constructor(message: string) {
    super(message);
    this.name = "MalformedArchive";
  }
}

export const BLOCK = 512;
const CHECKSUM = { at: 148, length: 8 };
const [USER_NAME, GROUP_NAME] = [
  [265, 32],
  [297, 32],
] as const;
const SPACE = 0x20;

export function isZeroBlock(block: Buffer): boolean {
  return block.equals(ZEROS);
}
const ZEROS = Buffer.alloc(BLOCK);

/**
 * Parses strictly. If GNU tar could read a header in another way, tar might see names that we did
 * not check, so such a header is refused.
 * @throws MalformedArchive
 */
export function parseTarHeader(block: Buffer): TarHeader {
  if (block.toString("latin1", 257, 265) !== "ustar\x0000") {
    throw new MalformedArchive("there is other data where a ustar header must be");
  }
  if (octal(block, CHECKSUM.at, CHECKSUM.length) !== checksumOf(block)) {
    throw new MalformedArchive("the checksum of a header is wrong");
  }
  if (text(block, ...USER_NAME) !== "" || text(block, ...GROUP_NAME) !== "")
    throw new MalformedArchive("an owner has a name, which tar prefers to its number");
  const prefix = text(block, 345, 155);
  const name = text(block, 0, 100);
  return {
    type: block.toString("latin1", 156, 157),
    name: prefix === "" ? name : `${prefix}/${name}`,
    mode: octal(block, 100, 8) & 0o7777,
    user: octal(block, 108, 8),
    group: octal(block, 116, 8),
    size: octal(block, 124, 12),
    linkName: text(block, 157, 100),
    modified: octal(block, 136, 12),
  };
}

function text(block: Buffer, at: number, length: number): string {
  const end = block.indexOf(0, at);
  return block.toString("latin1", at, end === -1 || end > at + length ? at + length : end);
}

function octal(block: Buffer, at: number, length: number): number {
  const digits = /^ *([0-7]{1,12})[ \0]*$/.exec(block.toString("latin1", at, at + length))?.[1];
  if (digits === undefined) throw new MalformedArchive("a number in a header is not octal");
  return Number.parseInt(digits, 8);
}

const words = new Uint32Array(BLOCK / 4);
const wordBytes = Buffer.from(words.buffer);

/**
 * The sum of all bytes, with the checksum's own bytes as spaces. It adds two bytes at a time in
 * each half of a word, which is faster.
 */
function checksumOf(block: Buffer): number {
  block.copy(wordBytes);
  wordBytes.fill(SPACE, CHECKSUM.at, CHECKSUM.at + CHECKSUM.length);
  let pairs = 0;
  for (const word of words) pairs += (word & 0x00ff00ff) + ((word >>> 8) & 0x00ff00ff);
  return (pairs & 0xffff) + (pairs >>> 16);
}

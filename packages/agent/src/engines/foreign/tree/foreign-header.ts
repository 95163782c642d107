import { BLOCK } from "../../files/tar/tar-header.ts";

/** A header as any tar may write it. Its names are bytes (latin1). */
export interface ForeignHeader {
  readonly type: string;
  readonly name: string;
  readonly linkName: string;
  readonly mode: number;
  /** Bytes of the archive that follow, without their padding. */
  readonly size: number;
  /** Seconds since 1970. */
  readonly modified: bigint;
  readonly user: bigint;
  readonly group: bigint;
}

const [CHECKSUM_AT, CHECKSUM_LENGTH] = [148, 8];
const SPACE = 0x20;

/**
 * Parses a header in the format of POSIX (ustar), of GNU tar, or from before both. Null for a block
 * that is none, or that readers could understand in different ways.
 */
export function parseForeignHeader(block: Buffer): ForeignHeader | null {
  if (!hasChecksum(block)) return null;
  const [mode, size, modified] = [
    numberIn(block, 100, 8),
    numberIn(block, 124, 12),
    numberIn(block, 136, 12),
  ];
  // Some archives have no owners.
  const [user, group] = [numberIn(block, 108, 8) ?? 0n, numberIn(block, 116, 8) ?? 0n];
  if (mode === null || size === null || modified === null) return null;
  if (size < 0n || size > BigInt(Number.MAX_SAFE_INTEGER)) return null;
  const isPosix = block.toString("latin1", 257, 263) === "ustar\0";
  const prefix = isPosix ? text(block, 345, 155) : "";
  const name = text(block, 0, 100);
  return {
    type: block.toString("latin1", 156, 157),
    name: prefix === "" ? name : `${prefix}/${name}`,
    linkName: text(block, 157, 100),
    mode: Number(mode & 0o7777n),
    size: Number(size),
    modified,
    user,
    group,
  };
}

/** Whether a block has the checksum of a header. Some tars add up bytes that have a sign. */
export function hasChecksum(block: Buffer): boolean {
  const written = numberIn(block, CHECKSUM_AT, CHECKSUM_LENGTH);
  if (written === null) return false;
  let [unsigned, signed] = [0, 0];
  for (let at = 0; at < BLOCK; at++) {
    const isOfChecksum = at >= CHECKSUM_AT && at < CHECKSUM_AT + CHECKSUM_LENGTH;
    const byte = isOfChecksum ? SPACE : (block[at] ?? 0);
    unsigned += byte;
    signed += byte > 127 ? byte - 256 : byte;
  }
  return written === BigInt(unsigned) || written === BigInt(signed);
}

/** Octal digits, or since GNU tar 1.13 the bytes of a number after a first byte of 128 or 255. */
function numberIn(block: Buffer, at: number, length: number): bigint | null {
  const first = block[at] ?? 0;
  if (first === 0x80 || first === 0xff) {
    const value = BigInt(`0x${block.toString("hex", at + 1, at + length)}`);
    return first === 0x80 ? value : value - (1n << BigInt(8 * (length - 1)));
  }
  const digits = /^ *([0-7]+)(?:[ \0]|$)/.exec(block.toString("latin1", at, at + length))?.[1];
  return digits === undefined ? null : BigInt(`0o${digits}`);
}

function text(block: Buffer, at: number, length: number): string {
  const end = block.indexOf(0, at);
  return block.toString("latin1", at, end === -1 || end > at + length ? at + length : end);
}

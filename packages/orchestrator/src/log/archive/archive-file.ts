import { createHash } from "node:crypto";
import { TILE_WIDTH, tilePath } from "@attestore/proof";

/** Entries of a log that share a file: those of a tile of the lowest level. */
export const FILE_ENTRIES = TILE_WIDTH;

/** Where a file has an envelope, in bytes. */
export interface ArchivedPart {
  id: string;
  start: number;
  length: number;
}

export interface ArchiveFile {
  bytes: Buffer;
  sha256: Buffer;
  parts: ArchivedPart[];
}

/**
 * A file of envelopes in the log's order, each as the agent sent it and followed by a line feed:
 * JSON texts one after the other, which jq reads.
 */
export function archiveFile(receipts: readonly { id: string; envelope: Buffer }[]): ArchiveFile {
  const parts: ArchivedPart[] = [];
  const pieces: Buffer[] = [];
  let start = 0;
  for (const { id, envelope } of receipts) {
    parts.push({ id, start, length: envelope.length });
    pieces.push(envelope, LINE_FEED);
    start += envelope.length + LINE_FEED.length;
  }
  const bytes = Buffer.concat(pieces);
  return { bytes, sha256: createHash("sha256").update(bytes).digest(), parts };
}

const LINE_FEED = Buffer.from("\n");

/** How many bytes of the SHA-256 are in the name. */
const NAMED = 8;

export function archivedIn(sha256: Buffer): Buffer {
  return sha256.subarray(0, NAMED);
}

/**
 * Such as archive/org_…/x001/234-a1b2….json. The path is that of the tile (C2SP tlog-tiles). What
 * the name says of the content makes sure that no file ever replaces another one.
 */
export function archiveName(orgId: string, fileIndex: number, named: Buffer): string {
  const tile = tilePath({ level: "entries", index: fileIndex, width: TILE_WIDTH });
  return `archive/${orgId}/${tile.slice("tile/entries/".length)}-${named.toString("hex")}.json`;
}

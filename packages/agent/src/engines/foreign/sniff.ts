/** The kind of a dump that others made, found from its first bytes. */
export type ForeignFormat =
  | "pg_dump-custom"
  | "pg_dump-plain"
  | "pg_dump-tar"
  | "mysqldump-sql"
  | "mongodump-archive"
  | "sqlite3-file"
  | "tar";

export type Compression = "none" | "gzip" | "zstd";

export interface Sniffed {
  readonly format: ForeignFormat;
  /** The version of the dumped server, if the dump says it. */
  readonly serverVersion: string | null;
}

/** This many of the first bytes are enough. */
export const HEAD_BYTES = 4096;

export function compressionOf(head: Buffer): Compression {
  if (head.subarray(0, 2).equals(Buffer.from([0x1f, 0x8b]))) return "gzip";
  if (head.subarray(0, 4).equals(Buffer.from([0x28, 0xb5, 0x2f, 0xfd]))) return "zstd";
  // pzstd begins with a frame that decoders skip.
  const isSkipped = (head[0] ?? 0) >>> 4 === 5 && head.subarray(1, 4).equals(Buffer.from([0x2a, 0x4d, 0x18]));
  if (isSkipped) return "zstd";
  return "none";
}

/**
 * For content that is not compressed, or decompressed already. Null if it can't be restored here.
 */
export function sniff(head: Buffer): Sniffed | null {
  const text = head.toString("latin1");
  if (text.startsWith("PGDMP"))
    return {
      format: "pg_dump-custom",
      serverVersion: /\b([1-9][0-9]\.[0-9]{1,2})\b/.exec(text)?.[1] ?? null,
    };
  if (text.startsWith("SQLite format 3\0")) return { format: "sqlite3-file", serverVersion: null };
  if (/^(?:\s|--[^\n]*\n)*-- PostgreSQL database dump\r?\n/.test(text)) {
    const version = /^-- Dumped from database version ([0-9]+(?:\.[0-9]+)?)/m.exec(text)?.[1] ?? null;
    return { format: "pg_dump-plain", serverVersion: version };
  }
  if (/^(?:\/\*[^\n]*\*\/;?\s*\n)*-- (?:MySQL|MariaDB) dump /.test(text)) {
    const version = /^-- Server version\s+([0-9][A-Za-z0-9.:~+-]{0,60})/m.exec(text)?.[1] ?? null;
    return { format: "mysqldump-sql", serverVersion: version };
  }
  if (head.subarray(0, 4).equals(Buffer.from([0x6d, 0xe2, 0x99, 0x81]))) {
    // A field of its first document, in BSON: a zero byte, the text's length, the text.
    const version = /server_version\0[^]{4}([0-9]+\.[0-9]+\.[0-9]+)/.exec(text)?.[1];
    return { format: "mongodump-archive", serverVersion: version ?? null };
  }
  if (text.slice(257, 262) === "ustar")
    return { format: text.startsWith("toc.dat\0") ? "pg_dump-tar" : "tar", serverVersion: null };
  return null;
}

/** Other formats, by how they begin, for a helpful message. */
const UNKNOWN: readonly (readonly [beginnings: readonly string[], what: string])[] = [
  [["age-encryption.org/", "-----BEGIN AGE "], "it is encrypted with age: decrypt it first"],
  [
    // Armoured; or with a packet that holds a password's or a public key's session key (RFC 9580).
    ["-----BEGIN PGP ", "\x84", "\x85", "\x8c", "\x8d", "\xc1", "\xc3"],
    "it seems to be encrypted with GnuPG: decrypt it first",
  ],
  [["Salted__"], "it is encrypted with openssl: decrypt it first"],
  [["\xfd7zXZ\0"], "it is xz: use gzip or zstd"],
  [["BZh"], "it is bzip2: use gzip or zstd"],
  [["PK\x03\x04"], "it is a zip archive: use tar, gzip or zstd"],
  [["7z\xbc\xaf", "\x04\x22\x4d\x18"], "it is 7z or lz4: use gzip or zstd"],
  [
    ["PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;", "BEGIN TRANSACTION;"],
    "it seems to be SQL that SQLite's shell wrote (.dump): copy the database with its .backup instead",
  ],
  [
    ["\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"],
    "it begins with a byte order mark, which no dump program writes: have nothing convert the dump",
  ],
];

export function nameOfUnknown(head: Buffer): string {
  const text = head.toString("latin1");
  if (text === "") return "it is empty";
  if (/^(?:\s|--[^\n]*\n)*-- PostgreSQL database cluster dump/.test(text))
    return "it is a dump of a whole server by pg_dumpall: dump each database separately";
  return (
    UNKNOWN.find(([beginnings]) => beginnings.some((each) => text.startsWith(each)))?.[1] ??
    "its first bytes are not of a known format. If it is not a dump, choose another by the source's pattern or file"
  );
}

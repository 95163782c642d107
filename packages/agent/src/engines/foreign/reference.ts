import { createHash } from "node:crypto";
import { RestoreRefused } from "../engine.ts";

/**
 * The content of such a "backup", as JSON: not the data, which stay where they are, but a name for
 * them and a digest that pins every byte. It is sealed, stored and receipted like any dump.
 */
export type Reference =
  | {
      readonly v: 1;
      readonly kind: "file";
      /** The path below the source's directory. */
      readonly path: string;
      readonly size_bytes: number;
      /** Of the file as it is stored there. */
      readonly sha256: string;
    }
  | {
      readonly v: 1;
      readonly kind: "restic";
      readonly repository_id: string;
      /** SHA-256 of the snapshot as the repository stores it. */
      readonly snapshot_id: string;
      /** SHA-256 of the tree's root. The nodes contain the SHA-256 of everything below them. */
      readonly tree_id: string;
      /** A file of the snapshot that is a dump; null for the whole tree. */
      readonly file: string | null;
    };

const MAX_BYTES = 64 * 1024;
const HEX = /^[0-9a-f]{64}$/;

export function formatReference(reference: Reference): Buffer {
  return Buffer.from(`${JSON.stringify(reference)}\n`);
}

/**
 * Parses the content.
 * @throws RestoreRefused if it is not a reference; any error from the content.
 */
export async function readReference(content: AsyncIterable<Buffer>): Promise<Reference> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of content) {
    length += piece.length;
    if (length <= MAX_BYTES) pieces.push(Buffer.from(piece));
  }
  const reference = length <= MAX_BYTES ? parseReference(Buffer.concat(pieces).toString("utf8")) : null;
  if (reference === null) throw new RestoreRefused("the backup does not refer to an existing one");
  return reference;
}

export function parseReference(text: string): Reference | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const { v, kind, path, size_bytes, sha256, repository_id, snapshot_id, tree_id, file } = value as Record<
    string,
    unknown
  >;
  const isHex = (each: unknown): each is string => typeof each === "string" && HEX.test(each);
  if (v !== 1) return null;
  if (kind === "file") {
    const isSize = typeof size_bytes === "number" && Number.isSafeInteger(size_bytes) && size_bytes >= 0;
    return isRelative(path) && isSize && isHex(sha256) ? { v, kind, path, size_bytes, sha256 } : null;
  }
  if (kind !== "restic" || !isHex(repository_id) || !isHex(snapshot_id) || !isHex(tree_id)) return null;
  if (file !== null && (typeof file !== "string" || !file.startsWith("/") || /[\0\n]/.test(file)))
    return null;
  return { v, kind, repository_id, snapshot_id, tree_id, file };
}

/** Whether the path stays below its directory. */
function isRelative(path: unknown): path is string {
  if (typeof path !== "string" || path === "" || path.length > 4096 || path.includes("\0")) return false;
  return path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}

/**
 * Stands for the schema, which nobody has looked at. It stays the same as long as the dumps have
 * the same format.
 */
export function formatHash(format: string): string {
  return createHash("sha256")
    .update(JSON.stringify(["reference", format, 1]))
    .digest("hex");
}

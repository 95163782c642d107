import { lstat } from "node:fs/promises";
import { errorCode } from "@attestore/host/errno";
import { createHash } from "node:crypto";
import { formatRow, type QueryOutcome } from "../../../checks/index.ts";
import type { TreeRuin } from "./ruin.ts";
import { fileSha256 } from "./tree-manifest.ts";
import { walkTree } from "./walk-tree.ts";

const YEAR_MS = 31_536_000_000;

/**
 * Returns one row about a path of a restored tree and everything below it: `files` (everything
 * except directories), `directories`, `bytes` (of regular files), `newest` (when one of them was
 * last written, RFC 3339; null if there is none), and `sha256` (of a regular file's content; else
 * null). It follows no symbolic link. With `ruin`, the row is that of a tree that was ruined so.
 */
export async function describePath(
  root: string,
  query: string,
  signal: AbortSignal,
  ruin: TreeRuin | null = null,
): Promise<QueryOutcome> {
  const path = Buffer.from(query.replace(/^(?:\.\/+)+(?=.)/, "").replace(/(?<=.)\/+$/, "")).toString(
    "latin1",
  );
  const mistake = await whyNot(root, path);
  if (mistake !== null) return { kind: "error", message: mistake };
  let files = 0;
  let directories = 0;
  let bytes = 0;
  let newest: number | null = null;
  let sha256: string | null = null;
  for await (const { entry, stats, at } of walkTree(root, path)) {
    signal.throwIfAborted();
    if (ruin === "empty" && entry.path !== path) continue;
    if (entry.kind === "directory") directories += 1;
    else files += 1;
    if (entry.kind !== "file") continue;
    const size = ruin === "empty" || ruin === "no_bytes" ? 0 : entry.size;
    bytes += size;
    const modified_ms = Number(stats.mtimeMs) - (ruin === "older" ? YEAR_MS : 0);
    newest = Math.max(newest ?? modified_ms, modified_ms);
    if (entry.path === path) {
      sha256 =
        size === 0 || ruin === "zeroed"
          ? sha256OfZeros(size, signal)
          : await fileSha256(at, Buffer.allocUnsafe(256 * 1024), signal);
    }
  }
  const row = formatRow([
    ["files", files],
    ["directories", directories],
    ["bytes", bytes],
    ["newest", newest === null ? null : new Date(newest).toISOString()],
    ["sha256", sha256],
  ]);
  return { kind: "rows", rows: [row] };
}

function sha256OfZeros(size: number, signal: AbortSignal): string {
  const hash = createHash("sha256");
  const zeros = Buffer.alloc(Math.min(size, 1 << 20));
  for (let left = size; left > 0; left -= zeros.length) {
    signal.throwIfAborted();
    hash.update(zeros.subarray(0, left));
  }
  return hash.digest("hex");
}

/** Opens each directory on the way, so that it follows no link. */
async function whyNot(root: string, path: string): Promise<string | null> {
  if (path === ".") return null;
  const parts = path.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..") || path.includes("\0")) {
    return "the query of a check on files is a relative path without .. in it";
  }
  for (let depth = 1; depth <= parts.length; depth++) {
    try {
      const stats = await lstat(
        Buffer.concat([Buffer.from(`${root}/`), Buffer.from(parts.slice(0, depth).join("/"), "latin1")]),
      );
      if (depth < parts.length && !stats.isDirectory()) return "a part of the path is not a directory";
    } catch (error) {
      if (errorCode(error) === "ENOENT") return "the restored tree has no such path";
      if (errorCode(error) === "ENAMETOOLONG") return "the path is too long";
      throw error;
    }
  }
  return null;
}

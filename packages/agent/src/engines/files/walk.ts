import type { BigIntStats } from "node:fs";
import { lstat, readdir, readlink } from "node:fs/promises";

/** Paths are bytes, kept as latin1 texts: file names need not be UTF-8. */
export interface Entry {
  /** Relative to the root; `.` is the root itself. */
  readonly path: string;
  readonly type: "file" | "directory" | "link" | "fifo" | "character" | "block";
  readonly stats: BigIntStats;
  /** What a link points to. */
  readonly target: string;
}

/**
 * Everything below a directory, in an order that depends on nothing but the names. Links are not followed. Sockets are left
 * out, as tar does.
 */
export async function* walk(root: string, signal: AbortSignal): AsyncGenerator<Entry, void, undefined> {
  yield* visit(root, ".", signal);
}

async function* visit(
  root: string,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<Entry, void, undefined> {
  signal.throwIfAborted();
  const absolute = absoluteOf(root, path);
  const stats = await lstat(absolute, { bigint: true });
  const type = typeOf(stats);
  if (type === null) return;
  const target = type === "link" ? (await readlink(absolute, { encoding: "buffer" })).toString("latin1") : "";
  yield { path, type, stats, target };
  if (type !== "directory") return;
  const names = (await readdir(absolute, { encoding: "buffer" })).map((name) => name.toString("latin1"));
  for (const name of names.toSorted()) yield* visit(root, path === "." ? name : `${path}/${name}`, signal);
}

export function absoluteOf(root: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")]);
}

function typeOf(stats: BigIntStats): Entry["type"] | null {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "directory";
  if (stats.isSymbolicLink()) return "link";
  if (stats.isFIFO()) return "fifo";
  if (stats.isCharacterDevice()) return "character";
  return stats.isBlockDevice() ? "block" : null;
}

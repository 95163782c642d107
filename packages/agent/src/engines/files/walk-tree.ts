import type { Stats } from "node:fs";
import { chmod, lstat, readdir, readlink } from "node:fs/promises";
import type { TreeEntry } from "./tree-entry.ts";

export interface WalkedEntry {
  readonly entry: TreeEntry;
  readonly stats: Stats;
}

/** Names are bytes; see TreeEntry. */
export function bytesOf(path: string): Buffer {
  return Buffer.from(path, "latin1");
}

/** `root`, a text, and a path in it, as bytes. */
export function pathIn(root: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), bytesOf(path)]);
}

/**
 * A tree's entries in the order in which `tar --sort=name` archives them, following no link. `from` is a path in it. A directory
 * that its owner may not read is made readable, once its mode was seen: this is for trees that are thrown away.
 */
export async function* walkTree(root: string, from = "."): AsyncGenerator<WalkedEntry, void, undefined> {
  const firstNames = new Map<string, string>();
  const waiting = [from];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const at = pathIn(root, path);
    const stats = await lstat(at);
    const first = stats.isDirectory() ? null : await firstNameOf(at, stats, path, firstNames);
    if (first !== null) {
      yield { entry: { kind: "hardlink", path, target: first }, stats };
      continue;
    }
    yield { entry: await entryAt(at, stats, path), stats };
    if (!stats.isDirectory()) continue;
    if ((stats.mode & 0o500) !== 0o500) await chmod(at, 0o700);
    const names = await readdir(at, { encoding: "latin1" });
    for (const name of names.sort().reverse()) waiting.push(path === "." ? name : `${path}/${name}`);
  }
}

async function firstNameOf(
  at: Buffer,
  { nlink }: Stats,
  path: string,
  firstNames: Map<string, string>,
): Promise<string | null> {
  if (nlink === 1) return null;
  // An inode's number may need all 64 bits.
  const { dev, ino } = await lstat(at, { bigint: true });
  const key = `${dev}:${ino}`;
  const first = firstNames.get(key);
  if (first === undefined) firstNames.set(key, path);
  return first ?? null;
}

async function entryAt(at: Buffer, stats: Stats, path: string): Promise<TreeEntry> {
  if (stats.isSymbolicLink()) {
    return { kind: "symlink", path, target: await readlink(at, { encoding: "latin1" }) };
  }
  const mode = stats.mode & 0o7777;
  if (stats.isFile()) return { kind: "file", path, mode, size: stats.size };
  if (stats.isDirectory()) return { kind: "directory", path, mode };
  if (stats.isFIFO()) return { kind: "fifo", path, mode };
  return { kind: "device", path, mode };
}

import type { BigIntStats } from "node:fs";
import { lstat, readdir, readlink } from "node:fs/promises";
import { openUp } from "../../../trees/open.ts";
import { TreePaths } from "../../../trees/tree-paths.ts";
import type { TreeEntry } from "../tree-entry.ts";

export interface WalkedEntry {
  readonly entry: TreeEntry;
  readonly stats: BigIntStats;
  /**
   * The path to open it by, valid until the next entry is requested. Its full path may be too long
   * for a system call.
   */
  readonly at: Buffer;
}

/**
 * Yields a tree's entries in the order in which `tar --sort=name` archives them. It follows no
 * link. `from` is a path in the tree. A directory that its owner may not read is made readable
 * after its mode was noted, so use this only for throw-away trees.
 */
export async function* walkTree(root: string, from = "."): AsyncGenerator<WalkedEntry, void, undefined> {
  const paths = await TreePaths.of(root);
  try {
    const firstNames = new Map<string, string>();
    const waiting = [from];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      const at = await paths.at(path);
      // Inodes and times may need all 64 bits.
      const stats = await lstat(at, { bigint: true });
      const first = stats.isDirectory() ? null : firstNameOf(stats, path, firstNames);
      if (first !== null) {
        yield { entry: { kind: "hardlink", path, target: first }, stats, at };
        continue;
      }
      yield { entry: await entryAt(at, stats, path), stats, at };
      if (!stats.isDirectory()) continue;
      if ((stats.mode & 0o500n) !== 0o500n) await openUp(at);
      const names = await readdir(at, { encoding: "latin1" });
      for (const name of names.sort().reverse()) waiting.push(path === "." ? name : `${path}/${name}`);
    }
  } finally {
    await paths.close();
  }
}

function firstNameOf(
  { nlink, dev, ino }: BigIntStats,
  path: string,
  firstNames: Map<string, string>,
): string | null {
  if (nlink === 1n) return null;
  const key = `${dev}:${ino}`;
  const first = firstNames.get(key);
  if (first === undefined) firstNames.set(key, path);
  return first ?? null;
}

async function entryAt(at: Buffer, stats: BigIntStats, path: string): Promise<TreeEntry> {
  if (stats.isSymbolicLink()) {
    return { kind: "symlink", path, target: await readlink(at, { encoding: "latin1" }) };
  }
  const mode = Number(stats.mode & 0o7777n);
  if (stats.isFile()) return { kind: "file", path, mode, size: Number(stats.size) };
  if (stats.isDirectory()) return { kind: "directory", path, mode };
  if (stats.isFIFO()) return { kind: "fifo", path, mode };
  return { kind: "device", path, mode };
}

import { cutLines } from "../../processes/cut-lines.ts";
import type { Moment } from "../files/tar/attributes.ts";
import { TreeSums } from "../files/tree/tree-sums.ts";
import type { ListedTree } from "../foreign/tree/listed-tree.ts";
import type { Restic } from "./restic.ts";

const KINDS: Readonly<Record<string, "file" | "directory" | "symlink">> = {
  file: "file",
  dir: "directory",
  symlink: "symlink",
};
/** Go's bits of a mode, and those of the system. */
const MODE_BITS: readonly (readonly [go: number, system: number])[] = [
  [2 ** 23, 0o4000],
  [2 ** 22, 0o2000],
  [2 ** 20, 0o1000],
];

/**
 * restic's own list of a snapshot, separate from the archive that restic makes. It reads the
 * snapshot's trees and no file.
 * @throws RunError, RestoreRefused
 */
export async function listedTree(restic: Restic, snapshot: string, key: Buffer): Promise<ListedTree> {
  const child = await restic.start(["ls", "--json", snapshot]);
  const [sums, asFiles] = [new TreeSums(key), new TreeSums(key)];
  sums.name("directory", ".");
  let others = 0;
  let why: string | null = null;
  try {
    for await (const line of cutLines(child.stdout)) {
      const node = parsed(line);
      if (node === null) {
        why ??= "a line of it is not understood";
        continue;
      }
      if (node["struct_type"] === "snapshot") continue;
      const kind = KINDS[String(node["type"])];
      if (kind === undefined) others += 1;
      why ??= kind === undefined ? add(asFiles, "file", node) : add(sums, kind, node);
    }
    const exit = await child.exited;
    if (exit.code !== 0) throw restic.failed(exit, "listing the snapshot");
    return { summed: sums.finish(), othersAsFiles: sums.finish(asFiles), why, others };
  } finally {
    await child.stop();
  }
}

/** Returns why a node cannot be compared; null if it was added. */
function add(
  sums: TreeSums,
  kind: "file" | "directory" | "symlink",
  node: Readonly<Record<string, unknown>>,
): string | null {
  // restic leaves out a mode or a size that is 0.
  const { path: listed, mode = 0, mtime, uid, gid, size = 0 } = node;
  if (typeof listed !== "string" || !listed.startsWith("/")) return "a line of it is not understood";
  // JSON has no other bytes.
  if (listed.includes("\uFFFD")) return "a name is not UTF-8";
  const modified = typeof mtime === "string" ? momentOf(mtime) : null;
  if (!isCount(mode) || !isCount(uid) || !isCount(gid) || !isCount(size) || modified === null)
    return "a line of it is not understood";
  const path = Buffer.from(listed.slice(1)).toString("latin1");
  sums.name(kind, path);
  sums.modified(path, modified);
  sums.owner(path, BigInt(uid), BigInt(gid));
  if (kind !== "symlink") sums.mode(path, systemMode(mode));
  if (kind === "file") sums.size(path, size);
  return null;
}

function parsed(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function systemMode(mode: number): number {
  return MODE_BITS.reduce(
    (sum, [go, system]) => sum + (Math.floor(mode / go) % 2 === 1 ? system : 0),
    mode % 0o1000,
  );
}

/** RFC 3339 with up to nine digits after the second. */
function momentOf(text: string): Moment | null {
  const [, day, fraction = "", zone] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
  const at_ms = day === undefined ? Number.NaN : Date.parse(`${day}${zone ?? ""}`);
  return Number.isNaN(at_ms) ? null : BigInt(at_ms) * 1_000_000n + BigInt(fraction.padEnd(9, "0"));
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

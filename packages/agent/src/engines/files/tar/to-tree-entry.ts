import { pathInTree } from "./path-in-tree.ts";
import { MalformedArchive, type TarHeader } from "./tar-header.ts";
import type { TreeEntry } from "../tree-entry.ts";

export interface ArchivedEntry {
  readonly entry: TreeEntry;
  /** Bytes of the archive that follow, without their padding. */
  readonly storedSize: number;
  readonly isSparse: boolean;
}

/** Others would change what tar restores, such as `uname`, and nobody would have compared it. */
const KNOWN =
  /^(?:[acm]time|path|linkpath|[ug]id|size|GNU\.sparse\..*|SCHILY\.acl\.(?:access|default)|SCHILY\.xattr\..+)$/s;
const SPARSE = ["GNU.sparse.major", "GNU.sparse.minor", "GNU.sparse.name", "GNU.sparse.realsize"];

/**
 * Combines a header with the pax records before it, if the entry stays within the tree.
 * @throws MalformedArchive for absolute names, for `..`, and for everything that our dump does not
 * make.
 */
export function toTreeEntry(header: TarHeader, pax: ReadonlyMap<string, string>): ArchivedEntry {
  if (![...pax.keys()].every((keyword) => KNOWN.test(keyword)))
    throw new MalformedArchive("a pax record is of a kind that backups never contain");
  const gnu = [...pax.keys()].filter((keyword) => keyword.startsWith("GNU."));
  const isSparse = gnu.length > 0;
  if (isSparse) requireSparseFile(header, pax, gnu);
  const path = pathInTree(pax.get("GNU.sparse.name") ?? pax.get("path") ?? header.name, header.type === "5");
  const storedSize = sizeOf(pax.get("size")) ?? header.size;
  const linkName = pax.get("linkpath") ?? header.linkName;
  const { mode } = header;
  if (header.type === "0") {
    const size = sizeOf(pax.get("GNU.sparse.realsize")) ?? storedSize;
    return { entry: { kind: "file", path, mode, size }, storedSize, isSparse };
  }
  if (storedSize !== 0) throw new MalformedArchive("an entry that is not a file has content");
  const entry = ((): TreeEntry => {
    switch (header.type) {
      case "1":
        return { kind: "hardlink", path, target: pathInTree(linkName, false) };
      case "2":
        return { kind: "symlink", path, target: linkName };
      case "3":
      case "4":
        return { kind: "device", path, mode };
      case "5":
        return { kind: "directory", path, mode };
      case "6":
        return { kind: "fifo", path, mode };
      default:
        throw new MalformedArchive("an entry has a type that backups never contain");
    }
  })();
  return { entry, storedSize: 0, isSparse: false };
}

function requireSparseFile(
  header: TarHeader,
  pax: ReadonlyMap<string, string>,
  gnu: readonly string[],
): void {
  const is10 = pax.get("GNU.sparse.major") === "1" && pax.get("GNU.sparse.minor") === "0";
  if (header.type !== "0" || !is10 || gnu.length !== SPARSE.length || !gnu.every((k) => SPARSE.includes(k))) {
    throw new MalformedArchive("an entry uses a sparse format that backups never contain");
  }
}

function sizeOf(digits: string | undefined): number | null {
  if (digits === undefined) return null;
  if (!/^(?:0|[1-9][0-9]{0,14})$/.test(digits)) throw new MalformedArchive("a size is not a number");
  return Number(digits);
}

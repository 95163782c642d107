import { type Attributes, attributesOf } from "../../files/tar/attributes.ts";
import { MalformedArchive } from "../../files/tar/tar-header.ts";
import type { TreeEntry } from "../../files/tree-entry.ts";
import { treePath } from "./tree-path.ts";
import type { ForeignHeader } from "./foreign-header.ts";

/** What an archive says of one name in it. */
export interface Member {
  /** Its path, and the target of a hard link, as they are in the restored tree. */
  readonly entry: TreeEntry;
  readonly modified: Attributes["modified"];
  readonly user: bigint;
  readonly group: bigint;
  readonly hasAcl: boolean;
  readonly xattrs: number;
}

export interface ArchivedMember {
  readonly member: Member;
  /** Bytes of the archive that follow, without their padding. */
  readonly storedSize: number;
  readonly isSparse: boolean;
}

const SPARSE = ["GNU.sparse.major", "GNU.sparse.minor", "GNU.sparse.name", "GNU.sparse.realsize"];
const DIGITS = /^(?:0|[1-9][0-9]{0,14})$/;

/**
 * Combines a header with the pax records before it.
 * @throws MalformedArchive for what GNU tar could understand in another way
 */
export function memberOf(header: ForeignHeader, pax: ReadonlyMap<string, string>): ArchivedMember {
  const isSparse = hasSparseMap(header, pax);
  const name = pax.get("GNU.sparse.name") ?? pax.get("path") ?? header.name;
  const storedSize = numberOf(pax.get("size")) ?? header.size;
  const path = treePath(name);
  const linkName = pax.get("linkpath") ?? header.linkName;
  const isDirectory = name.endsWith("/") || path === ".";
  const { mode } = header;
  const entry = ((): TreeEntry => {
    switch (header.type) {
      case "\0":
      case "0":
      case "7":
        if (isDirectory) break;
        return { kind: "file", path, mode, size: numberOf(pax.get("GNU.sparse.realsize")) ?? storedSize };
      case "1":
        return { kind: "hardlink", path, target: treePath(linkName) };
      case "2":
        if (linkName.includes("\0")) throw new MalformedArchive("a link's target has a NUL");
        return { kind: "symlink", path, target: linkName };
      case "3":
      case "4":
        return { kind: "device", path, mode };
      case "5":
        break;
      case "6":
        return { kind: "fifo", path, mode };
      case "S":
        throw new MalformedArchive("a sparse file is in GNU tar's old format");
      default:
        throw new MalformedArchive("there is something of an unknown type");
    }
    return { kind: "directory", path, mode };
  })();
  if (entry.kind !== "file" && storedSize !== 0)
    throw new MalformedArchive("something that is not a file has content");
  const { modified, user, group, acl, xattrs, escapedXattrs, otherXattrs } = attributesOf(header, pax);
  return {
    member: {
      entry,
      modified,
      user,
      group,
      hasAcl: acl !== null,
      xattrs: xattrs.length + escapedXattrs.length + otherXattrs.length,
    },
    storedSize,
    isSparse,
  };
}

function hasSparseMap(header: ForeignHeader, pax: ReadonlyMap<string, string>): boolean {
  const gnu = [...pax.keys()].filter((keyword) => keyword.startsWith("GNU.sparse."));
  if (gnu.length === 0) return false;
  const is10 = pax.get("GNU.sparse.major") === "1" && pax.get("GNU.sparse.minor") === "0";
  const isKnown = is10 && gnu.length === SPARSE.length && gnu.every((keyword) => SPARSE.includes(keyword));
  if (!isKnown || header.type !== "0") throw new MalformedArchive("a sparse file is in an unknown format");
  return true;
}

function numberOf(digits: string | undefined): number | null {
  if (digits === undefined) return null;
  if (!DIGITS.test(digits)) throw new MalformedArchive("a size is not a number");
  return Number(digits);
}

import { createHash } from "node:crypto";
import type { Attributes, Xattr } from "../tar/attributes.ts";
import { type AttributesDigest, Owners } from "./owners.ts";
import { type TimesDigest, Times } from "./times.ts";
import type { TreeEntry } from "../tree-entry.ts";

export interface ArchivedAttributes {
  readonly times: TimesDigest;
  readonly owners: AttributesDigest;
  readonly acls: AttributesDigest & {
    /** The same with users and groups left out. */
    readonly shape: string;
    /** Over everything that the archive says of ACLs, also where they only repeat the mode. */
    readonly archived: string;
  };
  readonly xattrs: AttributesDigest;
  /** Those with `=` or `%` in their names, which earlier agents did not tell from others. */
  readonly escapedXattrs: AttributesDigest;
  /** Those that no ordinary user may set. */
  readonly otherXattrs: AttributesDigest;
  /**
   * How many have extended attributes and a mode that lets not even their owner write: an ordinary
   * user's tar can't restore those attributes.
   */
  readonly unwritable: number;
}

/** Digests over the attributes in an archive. Names come in the walk's order. */
export class AttributeDigests {
  readonly #times = new Times();
  readonly #owners = new Owners();
  readonly #acls = createHash("sha256");
  readonly #shape = createHash("sha256");
  readonly #xattrs = new Xattrs();
  readonly #archivedAcls = createHash("sha256");
  readonly #escapedXattrs = new Xattrs();
  readonly #otherXattrs = new Xattrs();
  #aclCount = 0;
  #unwritable = 0;

  add(entry: TreeEntry, attributes: Attributes): void {
    // A further name of a file shares its attributes, which came with the first.
    if (entry.kind === "hardlink") return;
    const { modified, acl, archivedAcls, xattrs, escapedXattrs, otherXattrs, isMadeWithXattrs } = attributes;
    const { path } = entry;
    this.#times.add(path, modified);
    this.#owners.add(entry, attributes);
    if (acl !== null) {
      this.#aclCount += 1;
      this.#acls.update([path, acl.numeric ?? acl.shape, ""].join("\0"), "latin1");
      this.#shape.update([path, acl.shape, ""].join("\0"), "latin1");
    }
    if (archivedAcls !== null) this.#archivedAcls.update([path, archivedAcls, ""].join("\0"), "latin1");
    this.#xattrs.add(path, xattrs);
    this.#escapedXattrs.add(path, escapedXattrs);
    this.#otherXattrs.add(path, otherXattrs);
    const isWritable = !("mode" in entry) || (entry.mode & 0o600) === 0o600;
    if (isMadeWithXattrs && !isWritable) this.#unwritable += 1;
  }

  finish(): ArchivedAttributes {
    return {
      times: this.#times.finish(),
      owners: this.#owners.finish(),
      acls: {
        count: this.#aclCount,
        sha256: this.#acls.digest("hex"),
        shape: this.#shape.digest("hex"),
        archived: this.#archivedAcls.digest("hex"),
      },
      xattrs: this.#xattrs.finish(),
      escapedXattrs: this.#escapedXattrs.finish(),
      otherXattrs: this.#otherXattrs.finish(),
      unwritable: this.#unwritable,
    };
  }
}

class Xattrs {
  readonly #hash = createHash("sha256");
  #count = 0;

  add(path: string, xattrs: readonly Xattr[]): void {
    this.#count += xattrs.length;
    for (const [name, value] of xattrs) {
      const sha256 = createHash("sha256").update(value, "latin1").digest("hex");
      this.#hash.update([path, name, sha256, ""].join("\0"), "latin1");
    }
  }

  finish(): AttributesDigest {
    return { count: this.#count, sha256: this.#hash.digest("hex") };
  }
}

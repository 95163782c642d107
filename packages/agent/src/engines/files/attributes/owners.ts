import { createHash } from "node:crypto";
import type { Attributes } from "../tar/attributes.ts";
import type { TreeEntry } from "../tree-entry.ts";

/** What an archive holds of one kind of attribute. */
export interface AttributesDigest {
  readonly count: number;
  /** SHA-256 in hex, over paths and values. */
  readonly sha256: string;
}

/** The numeric owners and groups of an archive's files. Names come in the walk's order. */
export class Owners {
  readonly #hash = createHash("sha256");
  #count = 0;

  add(entry: TreeEntry, { user, group }: Pick<Attributes, "user" | "group">): void {
    // A further name of a file shares its owner, which came with the first.
    if (entry.kind === "hardlink") return;
    this.#count += 1;
    this.#hash.update([entry.path, user, group, ""].join("\0"), "latin1");
  }

  finish(): AttributesDigest {
    return { count: this.#count, sha256: this.#hash.digest("hex") };
  }
}

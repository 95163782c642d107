import type { Moment } from "../tar/attributes.ts";
import type { TreeEntry } from "../tree-entry.ts";
import { type TreeSummed, TreeSums } from "./tree-sums.ts";

/** What only the archive knows, and the walk of a tree cannot. */
export interface LookedFor {
  /** In hex. */
  readonly key: string;
  /** Directories without an entry of their own: only their names count. */
  readonly impliedDirectories: readonly string[];
  /** Hard links with the name that has the content in the archive. */
  readonly links: readonly (readonly [path: string, target: string])[];
}

/** Sums up a restored tree as `LookedFor` says, so that it is comparable with its archive. */
export class RestoredSums {
  readonly #sums: TreeSums;
  readonly #implied: ReadonlySet<string>;
  readonly #links: ReadonlyMap<string, string>;
  /** The archive's name of a file with several names, by its first name in the walk. */
  readonly #named = new Map<string, string>();
  /** Those first names whose archive's name has not come yet. */
  readonly #awaited = new Map<string, string>();

  constructor({ key, impliedDirectories, links }: LookedFor) {
    this.#sums = new TreeSums(Buffer.from(key, "hex"));
    this.#implied = new Set(impliedDirectories);
    this.#links = new Map(links);
  }

  add(entry: TreeEntry, sha256: string | null, modified: Moment): void {
    const { path } = entry;
    if (entry.kind === "directory") {
      if (this.#implied.has(path)) this.#sums.name("directory", path);
      else this.#sums.entry(entry, null, modified);
      return;
    }
    if (entry.kind === "hardlink") {
      const target = this.#named.get(entry.target) ?? entry.target;
      // It was added under its first name in the walk.
      if (path === target) this.#awaited.delete(entry.target);
      else this.#sums.entry({ ...entry, target }, null, modified);
      return;
    }
    const target = this.#links.get(path);
    if (target === undefined) return this.#sums.entry(entry, sha256, modified);
    this.#named.set(path, target);
    this.#awaited.set(path, target);
    this.#sums.entry({ ...entry, path: target }, sha256, modified);
    this.#sums.entry({ kind: "hardlink", path, target }, null, modified);
  }

  finish(): TreeSummed {
    // They were added under a name that the tree does not have.
    for (const path of this.#awaited.values()) this.#sums.name("file", `${path}/missing`);
    return this.#sums.finish();
  }
}

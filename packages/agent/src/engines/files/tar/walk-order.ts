import { MalformedArchive } from "./tar-header.ts";
import type { TreeEntry } from "../tree-entry.ts";

/**
 * Requires an archive to have the order of the walk: the root first, then the names in each
 * directory, sorted by bytes, once the directory itself was named. So no name comes twice, and no
 * name is below something that is not a directory, such as a link to another place.
 */
export class WalkOrder {
  /** The directories that are open in the walk, from the root down. */
  readonly #open: string[] = [];
  /** Null before the root. */
  #last: string | null = null;

  /** @throws MalformedArchive */
  next({ path, kind }: TreeEntry): void {
    if (this.#last === null) {
      if (path !== "." || kind !== "directory") throw outOfOrder();
      this.#last = "";
      return;
    }
    const slash = path.lastIndexOf("/");
    const parent = slash === -1 ? "." : path.slice(0, slash);
    while (this.#open.length > 0 && this.#open.at(-1) !== parent) this.#open.pop();
    if (path === "." || (parent !== "." && this.#open.length === 0)) throw outOfOrder();
    // A NUL sorts before everything that a name may contain, so the content of a directory comes
    // right after the directory.
    const place = path.replaceAll("/", "\0");
    if (place <= this.#last) throw outOfOrder();
    this.#last = place;
    if (kind === "directory") this.#open.push(path);
  }
}

function outOfOrder(): MalformedArchive {
  return new MalformedArchive("an entry is out of order, or its parent is not a directory");
}

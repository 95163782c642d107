import { MalformedArchive } from "./tar-header.ts";
import type { TreeEntry } from "./tree-entry.ts";

/**
 * Holds an archive to the order of the walk: the root, and then in each directory, once it was
 * named as one, its names sorted by bytes. So no name comes twice, and none lies below what is no
 * directory, such as a link to somewhere else.
 */
export class WalkOrder {
  /** The directories that are being walked, from the root down. */
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
    // A NUL sorts before whatever a name may hold: what is in a directory comes right after it.
    const place = path.replaceAll("/", "\0");
    if (place <= this.#last) throw outOfOrder();
    this.#last = place;
    if (kind === "directory") this.#open.push(path);
  }
}

function outOfOrder(): MalformedArchive {
  return new MalformedArchive("an entry is out of order, or its parent is not a directory");
}

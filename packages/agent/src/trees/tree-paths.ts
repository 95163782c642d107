import type { FileHandle } from "node:fs/promises";
import { openDirectory, openToldDirectory } from "./open.ts";

/** A path in a system call may have 4,095 bytes, and a name 255. */
const LONGEST = 3_000;

/**
 * Paths of a tree that may be longer than a system call accepts: on the way down, a directory every
 * few thousand bytes is held by its descriptor, and paths below it start from there. For walks that
 * go down and up again in order.
 */
export class TreePaths {
  readonly #root: FileHandle;
  readonly #held: { readonly path: string; readonly directory: FileHandle }[] = [];

  private constructor(root: FileHandle) {
    this.#root = root;
  }

  /** `root` is a configured path, and may be a link. */
  static async of(root: string): Promise<TreePaths> {
    return new TreePaths(await openToldDirectory(root));
  }

  /**
   * A name for `path` (latin1; `.` is the root) that is valid until the next one is requested. Only
   * its directories need to exist, and where one is held, no link leads to it.
   */
  async at(path: string): Promise<Buffer> {
    for (let last = this.#held.at(-1); last !== undefined; last = this.#held.at(-1)) {
      if (path.startsWith(`${last.path}/`)) break;
      this.#held.pop();
      await last.directory.close();
    }
    for (;;) {
      const last = this.#held.at(-1);
      const rest = last === undefined ? path : path.slice(last.path.length + 1);
      const { fd } = last?.directory ?? this.#root;
      if (rest.length <= LONGEST) return Buffer.from(`/proc/self/fd/${fd}/${rest}`, "latin1");
      const upTo = rest.lastIndexOf("/", LONGEST);
      const directory = await openDirectory(
        Buffer.from(`/proc/self/fd/${fd}/${rest.slice(0, upTo)}`, "latin1"),
      );
      this.#held.push({ path: path.slice(0, path.length - rest.length + upTo), directory });
    }
  }

  async close(): Promise<void> {
    for (const { directory } of this.#held.splice(0)) await directory.close();
    await this.#root.close();
  }
}

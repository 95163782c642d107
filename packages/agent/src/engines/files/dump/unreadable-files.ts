import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { errorCode } from "@attestore/host/errno";
import { plainLine, plural } from "@attestore/proof";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import { agentsUser } from "../../agents-user.ts";
import { entriesIn, type Entry } from "../../../trees/entries-in.ts";
import { TreePaths } from "../../../trees/tree-paths.ts";

/** A tree may have millions of names. */
const LOOKING_MS = 20_000;

/**
 * The error for a tree that this process may not read to its end; null if it may. tar names what it
 * could not read, but not how much that is, and not what to do.
 */
export async function unreadableFiles(
  root: string,
  signal: AbortSignal,
  looking_ms = LOOKING_MS,
): Promise<RunError | null> {
  const look = new Look(AbortSignal.any([signal, AbortSignal.timeout(looking_ms)]));
  await look.at(root);
  stopIfAborted(signal);
  const { count, first, mayBeMore } = look;
  if (first === null) return null;
  const many = plural(count, "file or directory", "files and directories");
  const path = first === "." ? root : `${root}/${Buffer.from(first, "latin1").toString("utf8")}`;
  const user = agentsUser();
  return new RunError(
    "dump_failed",
    `the agent's user ${user} cannot read ${mayBeMore ? "at least " : ""}${many} of ${root}, first ${plainLine(path.slice(0, 400))}: ` +
      `let it read everything there, for example with setfacl -R -m u:${user}:rX (docs/files.md)`,
  );
}

class Look {
  count = 0;
  /** Of a directory, its files come before those below them; as bytes (latin1). */
  first: string | null = null;
  /** In directories that cannot be read, or for want of time. */
  mayBeMore = false;
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  async at(root: string): Promise<void> {
    let paths: TreePaths | null = null;
    try {
      paths = await TreePaths.of(root);
      await this.#walk(paths);
    } catch (error) {
      // If something moved meanwhile, what was found so far has to do.
      if (paths === null && isDenied(error)) this.#note(".", true);
      else if (errorCode(error) === null) throw error;
    } finally {
      await paths?.close();
    }
  }

  async #walk(paths: TreePaths): Promise<void> {
    const waiting = ["."];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      const items = await itemsIn(await paths.at(path));
      if (items === null) {
        this.#note(path, true);
        continue;
      }
      const directories: string[] = [];
      for (const item of items) {
        if (this.#signal.aborted) {
          this.mayBeMore = true;
          return;
        }
        const inside = path === "." ? item.name : `${path}/${item.name}`;
        if (item.isDirectory()) directories.push(inside);
        else if (item.isFile() && !(await canOpen(await paths.at(inside)))) this.#note(inside, false);
      }
      // One by one: a function takes no more than some 100,000 arguments.
      for (const directory of directories.toReversed()) waiting.push(directory);
    }
  }

  #note(path: string, isDirectory: boolean): void {
    this.first ??= path;
    this.count += 1;
    this.mayBeMore ||= isDirectory;
  }
}

/** Sorted by name; null if this process may not list or not enter the directory. */
async function itemsIn(directory: Buffer): Promise<readonly Entry[] | null> {
  try {
    const items: Entry[] = [];
    for await (const item of entriesIn(directory)) items.push(item);
    await lstat(Buffer.concat([directory, Buffer.from("/.")]));
    return items.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (isDenied(error)) return null;
    throw error;
  }
}

/** access(2) would ask for the user who started the process. */
async function canOpen(file: Buffer): Promise<boolean> {
  try {
    const opened = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    await opened.close();
    return true;
  } catch (error) {
    return !isDenied(error);
  }
}

function isDenied(error: unknown): boolean {
  return errorCode(error) === "EACCES";
}

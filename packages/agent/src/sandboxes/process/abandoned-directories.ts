import { randomBytes } from "node:crypto";
import { type FileHandle, lstat, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorCode, errorMessage } from "@attestore/host/errno";
import { isAlive } from "../../processes/process-tag.ts";
import { unprivilegedUser } from "../../processes/unprivileged-user.ts";
import { RunError } from "../../errors/run-error.ts";
import { entriesIn } from "../../trees/entries-in.ts";
import { heldPath, type Name, nameIn, openToldDirectory } from "../../trees/open.ts";
import { removeTree } from "../../trees/remove-tree.ts";
import { stopAbandonedServer } from "./abandoned-server.ts";
import { findPrivateParents, openPrivate, ownUid } from "./private-parent.ts";

/** The owner is in the name, so a directory never exists without its owner being known. */
const NAME = /^(?:attestore-)?([0-9]+-[0-9]+-[0-9a-f]{8}-[0-9]+)-[0-9a-f]{8}$/;
/** Files that its own run could not remove. */
const LEFT = /^leftover-[0-9a-f]{8}$/;

export interface AbandonedDirectory {
  readonly path: string;
  /** Why it still exists; null if it does not, or nobody tried. */
  readonly problem: string | null;
}

/**
 * Where unix sockets may be. The path is as short as possible, because a socket's path has at most
 * 107 bytes.
 */
export function socketPlace(): string {
  return tmpdir().length > 12 ? "/tmp" : tmpdir();
}

/** Where plaintext may be that another user's programs have to reach. */
export const REACHABLE_PLACE = "/var/tmp";

/**
 * Our directories whose process is gone, wherever runs make them, if plaintext belongs in
 * `scratchDir`.
 */
export function findAbandonedDirectories(scratchDir: string): Promise<AbandonedDirectory[]> {
  return eachAbandoned(scratchDir, () => Promise.resolve(null));
}

/**
 * Removes them, and stops a server that may still run in one. A directory that cannot be removed is
 * reported, and blocks nobody. Two calls at once do no harm.
 */
export function removeAbandonedDirectories(scratchDir: string): Promise<AbandonedDirectory[]> {
  return eachAbandoned(scratchDir, async (parent, name, path) => {
    await stopAbandonedServer(path);
    return tryToRemove(parent, name);
  });
}

/** Why not; null if it is gone. */
export async function tryToRemove(parent: FileHandle, name: Name): Promise<string | null> {
  try {
    await removeTree(parent, name);
    return null;
  } catch (error) {
    if (errorCode(error) === null) throw error;
    return errorMessage(error);
  }
}

/** Gives it a name that tells every later run that nobody uses it any longer. */
export async function markAsLeft(parent: FileHandle, name: Name): Promise<void> {
  const left = `leftover-${randomBytes(4).toString("hex")}`;
  await rename(nameIn(parent, name), nameIn(parent, left)).catch(() => undefined);
}

type OfEach = (parent: FileHandle, name: Name, path: string) => Promise<string | null>;

async function eachAbandoned(scratchDir: string, ofEach: OfEach): Promise<AbandonedDirectory[]> {
  const found: AbandonedDirectory[] = [];
  const places = new Set([REACHABLE_PLACE, socketPlace()]);
  const privates = [scratchDir];
  for (const place of places) privates.push(...(await findPrivateParents(place)));
  for (const path of privates) {
    const problem = await inDirectory(path, openPrivate, async (parent) => {
      for (const name of await abandonedIn(parent))
        found.push({ path: join(path, name), problem: await ofEach(parent, name, join(path, name)) });
    });
    if (problem !== null) found.push({ path, problem });
  }
  // Older versions made them directly in these places, where everybody may create such a name.
  const former = await formerOwners();
  for (const path of places) {
    await inDirectory(path, openToldDirectory, async (parent) => {
      for (const name of await abandonedIn(parent)) {
        const stats = await lstat(nameIn(parent, name)).catch(() => null);
        if (LEFT.test(name) || stats?.isDirectory() !== true || !former.has(stats.uid)) continue;
        found.push({ path: join(path, name), problem: await ofEach(parent, name, join(path, name)) });
      }
    });
  }
  return found;
}

async function abandonedIn(parent: FileHandle): Promise<Name[]> {
  const names: Name[] = [];
  for await (const { name } of entriesIn(heldPath(parent))) {
    const owner = NAME.exec(name)?.[1];
    if (owner === undefined ? LEFT.test(name) : !isAlive(owner)) names.push(name);
  }
  return names;
}

/** Why it could not be examined; also null if there is none. */
async function inDirectory(
  path: string,
  openIt: (path: string) => Promise<FileHandle>,
  work: (directory: FileHandle) => Promise<void>,
): Promise<string | null> {
  let directory;
  try {
    directory = await openIt(path);
  } catch (error) {
    if (error instanceof RunError) return error.message;
    if (errorCode(error) === "ENOENT") return null;
    if (errorCode(error) !== null) return `it cannot be read (${errorCode(error)})`;
    throw error;
  }
  try {
    await work(directory);
    return null;
  } finally {
    await directory.close();
  }
}

/**
 * The users that scratch directories were made for: the current one, and those that root has run
 * scratch servers as.
 */
async function formerOwners(): Promise<Set<number>> {
  const user = await unprivilegedUser().catch(() => null);
  return new Set([ownUid(), ...(user === null ? [] : [user.uid])]);
}

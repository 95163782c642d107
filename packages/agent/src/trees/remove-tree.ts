import { randomBytes } from "node:crypto";
import { type FileHandle, lstat, rename, rmdir, unlink } from "node:fs/promises";
import { errorCode } from "@attestore/host/errno";
import { entriesOf, type Name, nameIn, openOwnDirectory, openUp } from "./open.ts";

const AT_ONCE = 64;

/** Something in a tree could not be removed; all else was. */
export class LeftBehind extends Error {
  readonly code: string;
  constructor(code: string, options: ErrorOptions) {
    super(`not all of it could be removed (${code})`, options);
    this.name = "LeftBehind";
    this.code = code;
  }
}

/**
 * Removes what is called `name` in a directory, with all that is below it. No link is followed, and no path is used that is
 * longer than a name: each directory that is found is moved up to the top, so that a tree may be as deep as it likes and its
 * owner may go on changing it. What cannot be removed (an immutable file, a mount) does not keep the rest.
 * @throws LeftBehind
 */
export async function removeTree(parent: FileHandle, name: Name): Promise<void> {
  const path = nameIn(parent, name);
  let top: FileHandle;
  try {
    top = await openOwnDirectory(path);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return;
    if (code === "ENOTDIR" || code === "ELOOP") return unlinkOrLeave(path);
    throw new LeftBehind(code ?? "unknown error", { cause: error });
  }
  let trouble: unknown = null;
  try {
    await makeWritable(top);
    trouble = await removeAll(top, (each) => dissolve(top, each));
  } finally {
    await top.close();
  }
  try {
    await rmdir(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return;
    const cause = trouble ?? error;
    throw new LeftBehind(errorCode(cause) ?? "unknown error", { cause });
  }
}

async function unlinkOrLeave(path: Buffer): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    throw new LeftBehind(errorCode(error) ?? "unknown error", { cause: error });
  }
}

/**
 * Removes what is in a directory, the directories by `ofDirectory`; gives the first error, or null.
 */
async function removeAll(
  directory: FileHandle,
  ofDirectory: (name: Name) => Promise<void>,
): Promise<unknown> {
  const stuck = new Set<Name>();
  let trouble: unknown = null;
  for (;;) {
    const names: { name: Name; isDirectory: boolean | null }[] = [];
    for await (const item of entriesOf(directory)) {
      if (stuck.has(item.name)) continue;
      const isKnown = item.isDirectory() || item.isFile() || item.isSymbolicLink();
      names.push({ name: item.name, isDirectory: isKnown ? item.isDirectory() : null });
      if (names.length === AT_ONCE) break;
    }
    if (names.length === 0) return trouble;
    await Promise.all(
      names.map(async ({ name, isDirectory }) => {
        const path = nameIn(directory, name);
        try {
          if (isDirectory ?? (await lstat(path)).isDirectory()) await ofDirectory(name);
          else await unlink(path);
        } catch (error) {
          if (errorCode(error) === "ENOENT") return;
          trouble ??= error;
          stuck.add(name);
        }
      }),
    );
  }
}

/**
 * Removes a directory of the top, whose own directories move into the top and wait there for their
 * turn.
 */
async function dissolve(top: FileHandle, name: Name): Promise<void> {
  const path = nameIn(top, name);
  if (await isGone(path)) return;
  const directory = await openOwnDirectory(path);
  let trouble: unknown = null;
  try {
    await makeWritable(directory);
    trouble = await removeAll(directory, async (each) => {
      const from = nameIn(directory, each);
      if (await isGone(from)) return;
      const to = nameIn(top, `.${randomBytes(8).toString("hex")}`);
      try {
        await rename(from, to);
      } catch (error) {
        // To move a directory is to write to it.
        if (errorCode(error) !== "EACCES") throw error;
        await openUp(from);
        await rename(from, to);
      }
    });
  } finally {
    await directory.close();
  }
  try {
    await rmdir(path);
  } catch (error) {
    throw trouble ?? error;
  }
}

/** Where that is not ours to change, what is in it says so. */
async function makeWritable(directory: FileHandle): Promise<void> {
  if (((await directory.stat()).mode & 0o700) !== 0o700) await directory.chmod(0o700).catch(() => undefined);
}

/** Whether a directory was empty, and now is not there. */
async function isGone(path: Buffer): Promise<boolean> {
  try {
    await rmdir(path);
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return true;
    if (code === "ENOTEMPTY" || code === "EEXIST" || code === "EACCES") return false;
    throw error;
  }
}

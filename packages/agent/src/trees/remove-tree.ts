import { randomBytes } from "node:crypto";
import { type FileHandle, lstat, rename, rmdir, unlink } from "node:fs/promises";
import { errorCode } from "@attestore/host/errno";
import { entriesIn } from "./entries-in.ts";
import { heldPath, type Name, nameIn, openOwnDirectory, openUp } from "./open.ts";

const AT_ONCE = 64;

/** Something in a tree could not be removed; everything else was. */
export class LeftBehind extends Error {
  readonly code: string;
  constructor(code: string, options: ErrorOptions) {
    super(`not all of it could be removed (${code})`, options);
    this.name = "LeftBehind";
    this.code = code;
  }
}

/**
 * Removes `name` in a directory, with everything below it. Follows no link, and uses no path longer
 * than a name: each directory that is found is moved up to the top, so a tree may be as deep as it
 * likes and its owner may keep changing it. Something that can't be removed (an immutable file, a
 * mount) does not keep the rest.
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
 * Removes the contents of a directory, its directories with `ofDirectory`; returns the first error,
 * or null.
 */
async function removeAll(
  directory: FileHandle,
  ofDirectory: (name: Name) => Promise<void>,
): Promise<unknown> {
  const stuck = new Set<Name>();
  let trouble: unknown = null;
  for (;;) {
    const names: { name: Name; isDirectory: boolean | null }[] = [];
    for await (const item of entriesIn(heldPath(directory))) {
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
 * Removes a directory of the top. Its own directories move to the top and wait there for their
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
        // Moving a directory requires writing to it.
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

/** If we may not change that, its contents will report it. */
async function makeWritable(directory: FileHandle): Promise<void> {
  if (((await directory.stat()).mode & 0o700) !== 0o700) await directory.chmod(0o700).catch(() => undefined);
}

/** Whether a directory was empty and is now removed. */
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

import { constants } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { Readable } from "node:stream";
import { errorCode } from "@attestore/host/errno";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import { entriesIn } from "../../trees/entries-in.ts";
import { heldPath, nameIn, openDirectory, openToldDirectory } from "../../trees/open.ts";
import {
  DamagedRepository,
  FILE_NAME,
  type ListedType,
  MOST_FILES,
  pathOf,
  type Repository,
  type RepositoryFile,
  requireUsualSize,
  UnreadableRepository,
} from "./repository.ts";

/**
 * A repository in a directory of this host. Others may write to that directory, so the agent
 * follows no link in it and reads only regular files.
 * @throws UnreadableRepository
 */
export async function openLocalRepository(path: string): Promise<Repository> {
  const root = await openToldDirectory(path).catch((error: unknown) => {
    throw new UnreadableRepository(
      `the repository ${path} cannot be opened (${errorCode(error) ?? "unknown error"})`,
      { cause: error },
    );
  });
  return {
    where: path,
    isRemote: false,
    list: (type) => orUnreadable(path, type, () => listed(root, type)),
    size: (file) =>
      withFile(path, root, file, async (handle) => {
        const size = await sizeOf(file, handle);
        await handle.close();
        return size;
      }),
    read: (file, { first, last }) =>
      withFile(path, root, file, async (handle) => {
        const size = await sizeOf(file, handle);
        const end = Math.min(last ?? size - 1, size - 1);
        if (first > end) {
          await handle.close();
          return first === 0 && size === 0 ? { length: 0, content: Readable.from([]) } : null;
        }
        const content = handle.createReadStream({ start: first, end, highWaterMark: 1 << 18 });
        return { length: end - first + 1, content };
      }),
    close: () => root.close(),
  };
}

async function listed(root: FileHandle, type: ListedType): Promise<{ name: string; size: number }[]> {
  const directory = await openDirectory(nameIn(root, type));
  try {
    const found: { name: string; size: number }[] = [];
    for await (const { name } of entriesIn(heldPath(directory))) {
      if (!FILE_NAME.test(name)) continue;
      if (found.length === MOST_FILES)
        throw new DamagedRepository(`${type} has more than ${MOST_FILES} files: \`restic prune\` it`);
      const stats = await lstat(nameIn(directory, name));
      if (stats.isFile()) found.push({ name, size: stats.size });
    }
    return found;
  } finally {
    await directory.close();
  }
}

/** `use` closes the file, unless there is an error. */
async function withFile<Result>(
  path: string,
  root: FileHandle,
  file: RepositoryFile,
  use: (handle: FileHandle) => Promise<Result>,
): Promise<Result | null> {
  const handle = await orUnreadable(path, pathOf(file), () => openFile(root, file));
  if (handle === null) return null;
  try {
    return await use(handle);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Packs are in `data/ab/abcd…`, and in very old repositories in `data/abcd…`. */
async function openFile(root: FileHandle, file: RepositoryFile): Promise<FileHandle | null> {
  if (file.type === "config") return openIn(root, "config");
  const directory = await nullIfMissing(openDirectory(nameIn(root, file.type)));
  if (directory === null) return null;
  try {
    if (file.type !== "data") return await openIn(directory, file.name);
    const part = await nullIfMissing(openDirectory(nameIn(directory, file.name.slice(0, 2))));
    if (part === null) return await openIn(directory, file.name);
    try {
      return (await openIn(part, file.name)) ?? (await openIn(directory, file.name));
    } finally {
      await part.close();
    }
  } finally {
    await directory.close();
  }
}

/**
 * Does not wait for a pipe, and opens a device only briefly: it checks what it opened before it
 * reads a byte.
 */
function openIn(directory: FileHandle, name: string): Promise<FileHandle | null> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW;
  return nullIfMissing(open(nameIn(directory, name), flags));
}

/** @throws DamagedRepository */
async function sizeOf(file: RepositoryFile, handle: FileHandle): Promise<number> {
  const stats = await handle.stat();
  if (!stats.isFile()) throw new DamagedRepository(`${pathOf(file)} is not a regular file`);
  requireUsualSize(file, stats.size);
  return stats.size;
}

async function orUnreadable<Result>(
  path: string,
  what: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const code = errorCode(error);
    if (code === null) throw error;
    const why = code === "ELOOP" || code === "ENOTDIR" ? "a link in it, which is not followed" : code;
    throw new UnreadableRepository(`${what} of the repository ${path} cannot be read (${why})`, {
      cause: error,
    });
  }
}

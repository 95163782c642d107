import type { Stats } from "node:fs";
import { type FileHandle, readdir, readlink, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { errorCode } from "@attestore/host/errno";
import { openRegularFile } from "../../trees/open.ts";
import { RunError } from "../../errors/run-error.ts";
import { unreadableSource } from "../unreadable-source.ts";
import type { DumpsPlace, FoundDump } from "./place.ts";

export function directoryPlace(directory: string): DumpsPlace {
  return {
    where: directory,
    list: (parts) => matching(directory, parts),
    stateOf: async (path) => {
      const stats = await stat(join(directory, path)).catch(() => null);
      return stats === null ? null : stateOf(stats);
    },
    fetch: async ({ path }) => {
      const file = await openWithin(directory, path);
      return { path: `/proc/self/fd/${file.fd}`, remove: () => file.close() };
    },
    close: () => undefined,
  };
}

async function matching(directory: string, parts: readonly RegExp[]): Promise<FoundDump[]> {
  let level = [""];
  for (const [depth, part] of parts.entries()) {
    const next: string[] = [];
    for (const at of level) {
      for (const name of await namesIn(join(directory, at), depth === 0))
        if (part.test(name)) next.push(at === "" ? name : `${at}/${name}`);
    }
    level = next;
  }
  const found: FoundDump[] = [];
  for (const path of level) {
    // A file that is gone again was rotated away in the meantime.
    const stats = await stat(join(directory, path)).catch(() => null);
    if (stats?.isFile() === true)
      found.push({ path, size: stats.size, modified_ms: stats.mtimeMs, state: stateOf(stats) });
  }
  return found;
}

function stateOf({ size, mtimeMs, ino }: Stats): string {
  return `${size} ${mtimeMs} ${ino}`;
}

async function namesIn(directory: string, isTop: boolean): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (!isTop) return [];
    throw unreadableSource(`the directory ${directory}`, error);
  }
}

/**
 * Checks where the file is only after opening it, because somebody who puts dumps there may swap
 * names at any moment.
 */
async function openWithin(directory: string, path: string): Promise<FileHandle> {
  const wanted = join(directory, path);
  let file: FileHandle;
  try {
    file = await openRegularFile(wanted);
  } catch (error) {
    throw new RunError(
      "ciphertext_unavailable",
      `the dump ${wanted} that the backup refers to cannot be read (${errorCode(error)}): if it was rotated away, register a newer one with \`attestore backup\``,
      { cause: error },
    );
  }
  try {
    const [real, root] = await Promise.all([readlink(`/proc/self/fd/${file.fd}`), realpath(directory)]);
    if (real.startsWith(root + sep)) return file;
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  throw new RunError("ciphertext_unavailable", `the dump ${wanted} is a link that leads out of ${directory}`);
}

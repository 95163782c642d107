import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "@attestore/host/errno";
import { shellWord } from "@attestore/proof";
import type { StorageConfig } from "../../config/storage-config.ts";
import { RunError } from "../../errors/run-error.ts";
import type { Layout } from "../../state/layout.ts";

/** Whoever begins with an empty storage on purpose, such as a new disk, makes this file in it. */
const NEW_STORAGE = ".attestore-new";

/**
 * A disk that is not mounted looks like an empty directory of this host. Backups must not go there
 * in its place, where they would fill another disk and be hidden by the next mount.
 * @returns null, or what to say: no backup that was stored in the directory is there. Null too
 * where some of it cannot be read, so that nobody knows: whoever uses it says why.
 */
export async function storageMissing(layout: Layout, storage: StorageConfig): Promise<string | null> {
  if (storage.kind !== "directory") return null;
  const { path } = storage;
  const stored = new Set(
    ((await namesIn(layout.storedBackups)) ?? [])
      .filter((name) => name.endsWith(".json"))
      .map((name) => `${name.slice(0, -".json".length)}.age`),
  );
  if (stored.size === 0) return null;
  const sources = await namesIn(path);
  if (sources === null) return null;
  for (const source of sources) {
    const names = await namesIn(join(path, source));
    if (names === null || names.some((name) => stored.has(name))) return null;
  }
  const mark = join(path, NEW_STORAGE);
  if (existsSync(mark)) return null;
  return (
    `${path} has none of the backups that were stored there: is its disk mounted? ` +
    `To begin with an empty storage: touch ${shellWord(mark)}`
  );
}

/** @throws RunError */
export async function requireStorage(layout: Layout, storage: StorageConfig): Promise<void> {
  const missing = await storageMissing(layout, storage);
  if (missing !== null) throw new RunError("output_unwritable", missing);
}

/** None where there is no directory; null for one that cannot be read. */
async function namesIn(directory: string): Promise<string[] | null> {
  try {
    return await readdir(directory);
  } catch (error) {
    const code = errorCode(error);
    return code === "ENOENT" || code === "ENOTDIR" ? [] : null;
  }
}

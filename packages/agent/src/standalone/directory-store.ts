import { constants, createReadStream, existsSync } from "node:fs";
import { access, copyFile, link, open, readdir, rename, rm, stat } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { makeDirectory, removeDurably, syncDirectory } from "../root/durable-write.ts";
import { systemCode } from "../root/system-code.ts";
import { CouldNotRun, isDiskFull } from "../runs/could-not-run.ts";
import type { TransferOptions } from "../spool/upload-backup.ts";
import type { BackupStore, StoredObject } from "./backup-store.ts";

/** A directory of this host: a disk of its own, or one that is mounted from somewhere else. */
export function directoryStore(directory: string): BackupStore {
  const pathOf = ({ key }: StoredObject): string => join(directory, key);
  return {
    where: directory,
    put: async (object, file, options) => {
      const path = pathOf(object);
      if (await isThere(path, object.sizeBytes)) return;
      await makeDirectory(dirname(path));
      try {
        // The bytes were fsynced under their first name.
        await link(file, path);
        await syncDirectory(dirname(path));
      } catch (error) {
        const code = systemCode(error);
        if (code === "EEXIST") await rm(path, { force: true });
        else if (code !== "EXDEV" && code !== "EPERM" && code !== "ENOTSUP")
          throw unavailable(directory, error);
        await copyDurably(file, path, object.sizeBytes, options);
      }
    },
    get: async (object, file, { signal }) => {
      signal.throwIfAborted();
      try {
        await copyFile(pathOf(object), file, constants.COPYFILE_FICLONE);
      } catch (error) {
        if (isDiskFull(error))
          throw new CouldNotRun(
            "disk_full",
            `no room in ${dirname(file)} for a copy of the stored backup, ${object.sizeBytes} bytes`,
            { cause: error },
          );
        throw new CouldNotRun(
          "ciphertext_unavailable",
          `the stored backup ${pathOf(object)} cannot be read (${systemCode(error) ?? "unknown error"})`,
          { cause: error },
        );
      }
    },
    remove: async (object) => {
      try {
        await removeDurably(pathOf(object));
      } catch (error) {
        throw unavailable(directory, error);
      }
    },
    examine: async () => {
      // Made with the first backup.
      let there = directory;
      while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
      try {
        await access(there, constants.W_OK | constants.X_OK);
        await readdir(there);
      } catch (error) {
        throw unavailable(directory, error);
      }
    },
    close: () => undefined,
  };
}

/** A name holds a whole file or none: it is linked or renamed to it. */
async function isThere(path: string, sizeBytes: number): Promise<boolean> {
  try {
    return (await stat(path)).size === sizeBytes;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    throw error;
  }
}

/** The bytes are on disk before the name points at them; kill -9 leaves a `.partial-…`, which the next copy to this name removes. */
async function copyDurably(
  from: string,
  to: string,
  totalBytes: number,
  { signal, onProgress }: TransferOptions,
): Promise<void> {
  // The caller holds the `work` lock: whoever wrote these is gone.
  const partials = `.${basename(to)}.partial-`;
  for (const name of await readdir(dirname(to)))
    if (name.startsWith(partials)) await rm(join(dirname(to), name), { force: true });
  const partial = join(dirname(to), `${partials}${randomBytes(6).toString("hex")}`);
  try {
    const file = await open(partial, "wx", 0o600);
    try {
      let bytes = 0;
      for await (const piece of createReadStream(from, { signal, highWaterMark: 1024 * 1024 })) {
        const chunk = piece as Buffer;
        await file.writeFile(chunk);
        bytes += chunk.length;
        onProgress?.(bytes, totalBytes);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, to);
    await syncDirectory(dirname(to));
  } catch (error) {
    await rm(partial, { force: true });
    signal.throwIfAborted();
    throw unavailable(dirname(to), error);
  }
}

function unavailable(directory: string, error: unknown): unknown {
  const code = systemCode(error);
  if (code === null) return error;
  return new CouldNotRun(
    isDiskFull(error) ? "disk_full" : "output_unwritable",
    `the storage ${directory} can't be written (${code}): the encrypted backup waits in blobs/; ` +
      "put it right and run `attestore sync`",
    { cause: error },
  );
}

import { constants, existsSync } from "node:fs";
import { access, copyFile, link, lstat, readdir, rm } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { makeDirectory, moveFile, removeFile, syncDirectory } from "@attestore/host/durable-files";
import { errorCode, isDiskFull } from "@attestore/host/errno";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import { readFilePieces, writeFilePieces } from "../../crypto/file-pieces.ts";
import { openRegularFile } from "../../trees/open.ts";
import { RunError } from "../../errors/run-error.ts";
import type { TransferOptions } from "../backup-backend.ts";
import type { BackupStore, StoredObject } from "./backup-store.ts";

/** A directory of this host: on a disk of its own, or mounted from somewhere else. */
export function directoryStore(directory: string): BackupStore {
  const pathOf = ({ key }: StoredObject): string => join(directory, key);
  return {
    where: directory,
    put: async (object, file, options) => {
      const path = pathOf(object);
      if (await isThere(path, object.sizeBytes)) return;
      await makeDirectory(dirname(path));
      await refuseLink(dirname(path));
      try {
        // The bytes were fsynced under their first name.
        await link(file, path);
        await syncDirectory(dirname(path));
      } catch (error) {
        const code = errorCode(error);
        if (code === "EEXIST") await rm(path, { force: true });
        else if (code !== "EXDEV" && code !== "EPERM" && code !== "ENOTSUP")
          throw unavailable(directory, error);
        await copyDurably(file, path, object.sizeBytes, options);
      }
    },
    get: async (object, file, { signal }) => {
      signal.throwIfAborted();
      try {
        await copyOut(pathOf(object), file, object.sizeBytes, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (isDiskFull(error))
          throw new RunError(
            "disk_full",
            `not enough space in ${dirname(file)} for a copy of the stored backup (${object.sizeBytes} bytes)`,
            { cause: error },
          );
        throw new RunError(
          "ciphertext_unavailable",
          `the stored backup ${pathOf(object)} cannot be read (${errorCode(error) ?? "unknown error"})`,
          { cause: error },
        );
      }
    },
    remove: async (object) => {
      try {
        await refuseLink(dirname(pathOf(object)));
        await removeFile(pathOf(object));
      } catch (error) {
        throw unavailable(directory, error);
      }
    },
    examine: async () => {
      // Created with the first backup.
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

/**
 * Reads at most one byte too many, which is enough for a wrong digest. Only reads files, because a
 * pipe would never end. Shares the blocks if the file system can.
 */
async function copyOut(from: string, to: string, sizeBytes: number, signal: AbortSignal): Promise<void> {
  const file = await openRegularFile(from);
  try {
    const itself = `/proc/self/fd/${file.fd}`;
    const isShared = await copyFile(itself, to, constants.COPYFILE_FICLONE_FORCE).then(
      () => true,
      () => false,
    );
    if (isShared) return;
    await rm(to, { force: true });
    await writeFilePieces(to, readAtMost(itself, sizeBytes + 1), signal, { isTemporary: true });
  } finally {
    await file.close();
  }
}

async function* readAtMost(path: string, most: number): AsyncGenerator<Buffer, void, undefined> {
  let left = most;
  for await (const piece of readFilePieces(path)) {
    yield piece.subarray(0, left);
    left -= piece.length;
    if (left <= 0) return;
  }
}

/** A link in place of a source's directory would make us write and remove files somewhere else. */
async function refuseLink(directory: string): Promise<void> {
  const stats = await lstat(directory).catch(() => null);
  if (stats === null || stats.isDirectory()) return;
  throw new RunError(
    "output_unwritable",
    `${directory} is not a directory but a link or file that attestore did not make: find out who made it, and remove it`,
  );
}

/** A name holds a whole file or none: the file is linked or renamed to it. */
async function isThere(path: string, sizeBytes: number): Promise<boolean> {
  const stats = await nullIfMissing(lstat(path));
  return stats !== null && stats.isFile() && stats.size === sizeBytes;
}

/**
 * The bytes are on disk before the name points at them. kill -9 leaves a `.partial-…`, which the
 * next copy to this name removes.
 */
async function copyDurably(
  from: string,
  to: string,
  totalBytes: number,
  { signal, onProgress }: TransferOptions,
): Promise<void> {
  // The caller holds the `work` lock, so the processes that wrote these are gone.
  const partials = `.${basename(to)}.partial-`;
  for (const name of await readdir(dirname(to)))
    if (name.startsWith(partials)) await rm(join(dirname(to), name), { force: true });
  const partial = join(dirname(to), `${partials}${randomBytes(6).toString("hex")}`);
  try {
    const onBytes = (bytes: number): void => onProgress?.(bytes, totalBytes);
    await writeFilePieces(partial, readFilePieces(from), signal, { onBytes });
    await moveFile(partial, to);
  } catch (error) {
    await rm(partial, { force: true });
    signal.throwIfAborted();
    throw unavailable(dirname(to), error);
  }
}

function unavailable(directory: string, error: unknown): unknown {
  const code = errorCode(error);
  if (code === null) return error;
  return new RunError(
    isDiskFull(error) ? "disk_full" : "output_unwritable",
    `the storage ${directory} can't be written (${code}): the encrypted backup is queued in blobs/; ` +
      "fix the storage and run `attestore sync`",
    { cause: error },
  );
}

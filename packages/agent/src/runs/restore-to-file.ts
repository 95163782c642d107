import { randomBytes } from "node:crypto";
import { link, lstat, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { syncDirectory } from "@attestore/host/durable-files";
import { errorCode, isDiskFull } from "@attestore/host/errno";
import { type CiphertextSource, holdToDigest, readCiphertext } from "../crypto/ciphertext.ts";
import { DamagedCiphertext } from "../crypto/damaged.ts";
import { writeFilePieces } from "../crypto/file-pieces.ts";
import { unseal } from "../crypto/unseal.ts";
import { RunError, stopIfAborted } from "../errors/run-error.ts";
import { throwIfDamaged } from "./throw-if-damaged.ts";
import type { OnProgress } from "./progress.ts";

export interface RestoreToFileRequest {
  readonly ciphertext: CiphertextSource;
  /**
   * The backup's recorded digest. Without it the age file still authenticates itself, but may be
   * another backup.
   */
  readonly sha256?: string;
  /** `AGE-SECRET-KEY-1…` */
  readonly identities: readonly string[];
  readonly output: string;
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress;
}

/**
 * Decrypts and decompresses a backup into a file: the dump, for `pg_restore`, `sqlite3` or `tar`.
 *
 * The output appears under its name only once the end of the ciphertext has been authenticated, by
 * a rename of a fsynced file. Anything else, kill -9 too, leaves at most a `.<name>.partial-…`
 * beside it.
 *
 * @throws DamagedCiphertext if the backup is damaged; RunError.
 */
export async function restoreToFile(request: RestoreToFileRequest): Promise<{ sizeBytes: number }> {
  const { identities, signal, sha256, output } = request;
  stopIfAborted(signal);
  const partial = join(dirname(output), `.${basename(output)}.partial-${randomBytes(6).toString("hex")}`);
  const ciphertext = readCiphertext(request.ciphertext);
  try {
    const dump = unseal(sha256 === undefined ? ciphertext : holdToDigest(ciphertext, sha256), identities);
    const onBytes = (bytes: number): void => request.onProgress?.({ phase: "restore", bytes });
    const sizeBytes = await writeFilePieces(partial, dump, signal, { onBytes });
    await nameIt(partial, output);
    await syncDirectory(dirname(output));
    return { sizeBytes };
  } catch (error) {
    await rm(partial, { force: true });
    stopIfAborted(signal);
    await throwIfDamaged(error, request.ciphertext, sha256, signal);
    if (error instanceof RunError || error instanceof DamagedCiphertext) throw error;
    if (isDiskFull(error)) {
      throw new RunError(
        "disk_full",
        `no space left for ${output}: nothing was written; choose another place`,
        { cause: error },
      );
    }
    if (errorCode(error) !== null) {
      throw new RunError("output_unwritable", `${output} cannot be written (${errorCode(error)})`, {
        cause: error,
      });
    }
    throw error;
  }
}

/**
 * Never replaces a file or link that somebody has put there meanwhile. Some file systems have no
 * hard links.
 */
async function nameIt(partial: string, output: string): Promise<void> {
  try {
    await link(partial, output);
    await rm(partial);
  } catch (error) {
    if (errorCode(error) === "EEXIST") throw error;
    if ((await lstat(output).catch(() => null)) !== null) throw error;
    await rename(partial, output);
  }
}

import { join } from "node:path";
import { isDiskFull } from "@attestore/host/errno";
import { dumpSource } from "../engines/index.ts";
import type { Dump, Origin, SourceMetadata } from "../engines/engine.ts";
import { writeBlob } from "../crypto/blob.ts";
import { seal } from "../crypto/seal.ts";
import { DEFAULT_LIMITS, type SourceLimits } from "../config/source-limits.ts";
import type { SourceConfig } from "../config/source-config.ts";
import { RunError, stopIfAborted } from "../errors/run-error.ts";
import { atMost, beyondLimit, timeLimit } from "../engines/enforce-limits.ts";
import { makeContentKey, withContentKey } from "./content-key.ts";
import type { OnProgress } from "./progress.ts";

export interface MakeBackupRequest {
  readonly source: SourceConfig;
  /** `age1…`, at least one. */
  readonly recipients: readonly string[];
  readonly blobsDir: string;
  /**
   * For plaintext that an engine can't do without, such as SQLite's copy. Next to the blobs by
   * default.
   */
  readonly scratchDir?: string;
  /** See definitions-key.ts. Without it, no definition is signed for comparing backups. */
  readonly definitionsKey?: Buffer | null;
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress;
}

export interface MadeBackup {
  /** In `blobsDir`, synced to disk. */
  readonly path: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly cipher: { readonly name: "age-v1"; readonly recipients: readonly string[] };
  readonly sourceMetadata: SourceMetadata;
  /** The database that it is of. */
  readonly origin: Origin;
  /** RFC 3339, UTC, milliseconds. */
  readonly startedAt: string;
  readonly finishedAt: string;
}

/**
 * Makes a backup as one stream: dump → zstd → age → SHA-256 → blobs/. The ciphertext gets its name
 * only after the dump program has succeeded and the metadata is known. So a failure or kill -9 at
 * any moment leaves no blob, and no plaintext that outlives the next run. @throws RunError
 */
export async function writeEncryptedDump(request: MakeBackupRequest): Promise<MadeBackup> {
  const { source, recipients, blobsDir, definitionsKey = null } = request;
  const limits = source.limits ?? DEFAULT_LIMITS;
  const time = timeLimit(limits, request.signal);
  const { signal } = time;
  const scratchDir = request.scratchDir ?? join(blobsDir, "..", "scratch");
  const startedAt = new Date().toISOString();
  stopIfAborted(request.signal);
  let dump: Dump | null = null;
  try {
    const contentKey = await makeContentKey(recipients);
    dump = await dumpSource(source, {
      scratchDir,
      signal,
      limits,
      ...(contentKey === null ? {} : { contentKey: contentKey.key }),
      ...(definitionsKey === null ? {} : { definitionsKey }),
    });
    const plaintext = described(dump, limits, request.onProgress);
    const blob = await writeBlob(seal(plaintext.content, recipients), blobsDir, signal);
    return {
      ...blob,
      cipher: { name: "age-v1", recipients },
      sourceMetadata: {
        ...withContentKey(await dump.metadata(), contentKey),
        plaintext_size_bytes: plaintext.bytes(),
      },
      origin: dump.origin,
      startedAt,
      finishedAt: new Date().toISOString(),
    };
  } catch (error) {
    if (time.isUp()) throw beyondLimit(`the dump did not end within ${limits.time_s} s`, "limits.time_s");
    stopIfAborted(signal);
    if (isDiskFull(error)) {
      throw new RunError(
        "disk_full",
        `no space left for the backup in ${blobsDir}: nothing was kept; give it more space`,
        { cause: error },
      );
    }
    throw error;
  } finally {
    await dump?.close();
  }
}

/**
 * The dump. It ends only once its metadata are known, because a backup without a description is not
 * a backup.
 */
function described(
  dump: Dump,
  limits: SourceLimits,
  onProgress: OnProgress | undefined,
): { readonly content: AsyncIterable<Buffer>; readonly bytes: () => number } {
  const { expectedBytes } = dump;
  let bytes = 0;
  const tooLong = (): Error => beyondLimit(`the dump is longer than ${limits.bytes} bytes`, "limits.bytes");
  const content = (async function* () {
    for await (const piece of atMost(dump.content, limits.bytes, tooLong)) {
      yield piece;
      bytes += piece.length;
      onProgress?.({
        phase: "dump",
        bytes,
        ...(expectedBytes === null ? {} : { totalBytes: Math.max(expectedBytes, bytes) }),
      });
    }
    await dump.metadata();
  })();
  return { content, bytes: () => bytes };
}

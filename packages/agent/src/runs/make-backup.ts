import { join } from "node:path";
import { dumpSource } from "../engines/index.ts";
import type { Dump, SourceMetadata } from "../engines/engine.ts";
import { writeBlob } from "../pipeline/blob.ts";
import { seal } from "../pipeline/seal.ts";
import type { SourceConfig } from "../root/source-config.ts";
import { CouldNotRun, isDiskFull, stopIfAborted } from "./could-not-run.ts";
import type { OnProgress } from "./progress.ts";

export interface MakeBackupRequest {
  readonly source: SourceConfig;
  /** `age1…`, at least one. */
  readonly recipients: readonly string[];
  readonly blobsDir: string;
  /** For plaintext that an engine cannot do without, such as SQLite's copy. Beside the blobs unless it is given. */
  readonly scratchDir?: string;
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress;
}

export interface MadeBackup {
  /** In `blobsDir`, fsynced. */
  readonly path: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly cipher: { readonly name: "age-v1"; readonly recipients: readonly string[] };
  readonly sourceMetadata: SourceMetadata;
  /** RFC 3339, UTC, milliseconds. */
  readonly startedAt: string;
  readonly finishedAt: string;
}

/**
 * Dump → zstd → age → SHA-256 → blobs/, as one stream.
 *
 * The ciphertext gets its name only after the dump program has ended well and the metadata are there: a failure or kill -9
 * at any moment leaves no blob, and no plaintext that outlives the next run.
 * @throws CouldNotRun
 */
export async function makeBackup(request: MakeBackupRequest): Promise<MadeBackup> {
  const { source, recipients, blobsDir, signal } = request;
  const scratchDir = request.scratchDir ?? join(blobsDir, "..", "scratch");
  const startedAt = new Date().toISOString();
  stopIfAborted(signal);
  let dump: Dump | null = null;
  try {
    dump = await dumpSource(source, { scratchDir, signal });
    const counted = new Counted(dump, request.onProgress);
    const blob = await writeBlob(seal(counted.content(), recipients), blobsDir, signal);
    return {
      ...blob,
      cipher: { name: "age-v1", recipients },
      sourceMetadata: { ...(await dump.metadata()), plaintext_size_bytes: counted.bytes },
      startedAt,
      finishedAt: new Date().toISOString(),
    };
  } catch (error) {
    stopIfAborted(signal);
    if (isDiskFull(error)) {
      throw new CouldNotRun(
        "disk_full",
        `no room left for the backup in ${blobsDir}: nothing was kept, give it more room`,
        { cause: error },
      );
    }
    throw error;
  } finally {
    await dump?.close();
  }
}

/** The dump, which ends only when its metadata are known: a backup that could not be described is none. */
class Counted {
  /** So far. Signed, it bounds what a restore takes from this backup. */
  bytes = 0;
  readonly #dump: Dump;
  readonly #onProgress: OnProgress | undefined;

  constructor(dump: Dump, onProgress: OnProgress | undefined) {
    this.#dump = dump;
    this.#onProgress = onProgress;
  }

  async *content(): AsyncGenerator<Buffer, void, undefined> {
    const { expectedBytes } = this.#dump;
    for await (const piece of this.#dump.content) {
      yield piece;
      this.bytes += piece.length;
      this.#onProgress?.({
        phase: "dump",
        bytes: this.bytes,
        ...(expectedBytes === null ? {} : { totalBytes: Math.max(expectedBytes, this.bytes) }),
      });
    }
    await this.#dump.metadata();
  }
}

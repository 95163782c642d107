import { writePiece } from "../../../processes/feed.ts";
import { largeWrites } from "../../../processes/large-writes.ts";
import type { Child } from "../../../processes/child.ts";
import type { RunProgram } from "../../../processes/run-program.ts";
import { CopyDigests, type SequenceValue, type TableContent } from "./copy-digests.ts";

export interface ArchiveContent {
  readonly tables: readonly TableContent[];
  /** Null if they were not understood. */
  readonly sequences: readonly SequenceValue[] | null;
  /** SHA-256 in hex; see `LargeObjectDigest`. Null if they were not understood. */
  readonly largeObjects: string | null;
  /** The encoding of its texts, in PostgreSQL's words. */
  readonly encoding: string;
}

/**
 * Computes the digests of an archive's tables while the archive passes, from what pg_restore prints
 * of it. If anything goes wrong here, nothing is known about the content, but the dump is not to
 * blame.
 */
export class ArchiveReader {
  readonly #child: Child;
  readonly #read: Promise<ReturnType<CopyDigests["end"]>>;

  private constructor(child: Child) {
    this.#child = child;
    this.#read = digestsOf(child);
    this.#read.catch(() => undefined);
  }

  /**
   * `path` is that of a dump in directory format. Any other archive is added piece by piece. Null
   * if it cannot be read.
   */
  static async start(
    run: RunProgram,
    signal: AbortSignal,
    path: string | null = null,
  ): Promise<ArchiveReader | null> {
    const args = ["--data-only", "--file=-", ...(path === null ? [] : ["--format=directory", path])];
    const child = await run("pg_restore", { args, env: await largeWrites(), signal }).catch(() => null);
    return child === null ? null : new ArchiveReader(child);
  }

  /** Resolves once the piece was taken over. */
  async add(piece: Buffer): Promise<void> {
    await writePiece(this.#child.stdin, piece).catch(() => false);
  }

  /** Call this after the last piece. Null if the archive could not be read. */
  async end(): Promise<ArchiveContent | null> {
    this.#child.stdin.end();
    const digests = await this.#read.catch(() => null);
    const { code, stderr } = await this.#child.exited;
    return code === 0 && !stderr.includes("error:") ? digests : null;
  }

  async close(): Promise<void> {
    await this.#child.stop();
  }
}

async function digestsOf({ stdout }: Child): Promise<ReturnType<CopyDigests["end"]>> {
  const digests = new CopyDigests();
  for await (const piece of stdout) digests.add(piece as Buffer);
  return digests.end();
}

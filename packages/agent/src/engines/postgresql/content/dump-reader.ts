import type { RunProgram } from "../../../processes/run-program.ts";
import { readWhilePassing } from "./read-while-passing.ts";
import { CopyDigests } from "./copy-digests.ts";
import { type ArchiveContent, ArchiveReader } from "./read-archive.ts";

/** Reads what another program's dump loads into its tables, while the dump is restored. */
export class DumpReader {
  readonly content: AsyncIterable<Buffer>;
  readonly #end: () => Promise<ArchiveContent | null>;
  readonly #close: () => Promise<void>;

  private constructor(
    content: AsyncIterable<Buffer>,
    end: () => Promise<ArchiveContent | null>,
    close: () => Promise<void>,
  ) {
    this.content = content;
    this.#end = end;
    this.#close = close;
  }

  /** A dump in SQL is read as it comes; of an archive, what pg_restore prints of it. */
  static async start(
    content: AsyncIterable<Buffer>,
    {
      isPlain,
      run,
      signal,
    }: { readonly isPlain: boolean; readonly run: RunProgram; readonly signal: AbortSignal },
  ): Promise<DumpReader> {
    if (isPlain) {
      const digests = new CopyDigests();
      const add = (piece: Buffer): Promise<void> => Promise.resolve(digests.add(piece));
      return new DumpReader(
        readWhilePassing(content, add),
        () => Promise.resolve(digests.end()),
        () => Promise.resolve(),
      );
    }
    const archive = await ArchiveReader.start(run, signal);
    if (archive === null)
      return new DumpReader(
        content,
        () => Promise.resolve(null),
        () => Promise.resolve(),
      );
    return new DumpReader(
      readWhilePassing(content, (piece) => archive.add(piece)),
      () => archive.end(),
      () => archive.close(),
    );
  }

  /** Call this after the restore. Null if the dump was not understood. */
  end(): Promise<ArchiveContent | null> {
    return this.#end();
  }

  /** Callers must always call it. */
  close(): Promise<void> {
    return this.#close();
  }
}

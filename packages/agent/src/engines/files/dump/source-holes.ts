import { constants } from "node:fs";
import { type FileHandle, open, statfs } from "node:fs/promises";
import { errorCode } from "@attestore/host/errno";
import { plainLine } from "@attestore/proof";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import { TreePaths } from "../../../trees/tree-paths.ts";
import { whatToDo } from "../../unreadable-source.ts";
import type { Moment } from "../tar/attributes.ts";

/**
 * ext2 to ext4, XFS, Btrfs and tmpfs (statfs(2)): what they call a hole has no content. Others have
 * been wrong: network and FUSE file systems that count no blocks, storage that moved a file away,
 * OpenZFS right after a write.
 */
const TRUSTED: ReadonlySet<number> = new Set([0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994]);
const READ_BYTES = 1 << 20;
const ZEROS = Buffer.alloc(READ_BYTES);

/** A part of a file that tar takes for a hole, because the file system says so. */
export interface ArchivedHole {
  /** As bytes (latin1). */
  readonly path: string;
  /** When the file was last written, as tar archived it. */
  readonly modified: Moment;
  readonly offset: number;
  readonly bytes: number;
}

/**
 * tar archives zeros for a hole without reading it. Where a file system is wrong, nobody would
 * notice, because a backup is compared with its archive. Paths come in the walk's order.
 */
export class SourceHoles {
  readonly #root: string;
  readonly #signal: AbortSignal;
  #paths: TreePaths | null = null;
  /** That of an empty file: its other files are on the same file system, unless one is mounted. */
  #trustedDirectory: string | null = null;
  #current: { readonly path: string; readonly file: FileHandle | null } | null = null;

  constructor(root: string, signal: AbortSignal) {
    this.#root = root;
    this.#signal = signal;
  }

  /** @throws RunError `dump_failed` if there is content in the hole. */
  async check({ path, modified, offset, bytes }: ArchivedHole): Promise<void> {
    await this.#require({ path, modified, says: "that there is a hole" }, (file) =>
      hasContent(file, offset, bytes, this.#signal),
    );
  }

  /**
   * tar reads nothing of a file whose size is 0. File systems that make content up, such as some of
   * FUSE, give that size to files that have content.
   * @throws RunError `dump_failed` if it has content.
   */
  async checkEmpty({ path, modified }: Pick<ArchivedHole, "path" | "modified">): Promise<void> {
    const directory = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    if (this.#trustedDirectory === directory) return;
    const isTrusted = await this.#require(
      { path, modified, says: "that it is empty" },
      async (file) => (await file.read(Buffer.alloc(1), 0, 1, 0)).bytesRead > 0,
    );
    if (isTrusted) this.#trustedDirectory = directory;
  }

  /** @returns whether the file system is trusted, so that nobody looked. */
  async #require(
    { path, modified, says }: { readonly path: string; readonly modified: Moment; readonly says: string },
    isWrong: (file: FileHandle) => Promise<boolean>,
  ): Promise<boolean> {
    try {
      const file = await this.#open(path);
      if (file === null) return true;
      if (!(await isWrong(file))) return false;
      // Whoever wrote there after tar had read it does no harm.
      if ((await file.stat({ bigint: true })).mtimeNs !== modified) return false;
    } catch (error) {
      stopIfAborted(this.#signal);
      const code = errorCode(error);
      // It is gone: then the names have changed too.
      if (code === "ENOENT" || code === "ENOTDIR") return false;
      if (code === null || error instanceof RunError) throw error;
      throw new RunError("dump_failed", `${this.#named(path)} cannot be read (${code}): ${whatToDo(code)}`, {
        cause: error,
      });
    }
    throw new RunError(
      "dump_failed",
      `tar would not store content of ${this.#named(path)}: its file system says ${says}. ` +
        "Back up the directory where it really is, or a copy of it",
    );
  }

  #named(path: string): string {
    return `${this.#root}/${plainLine(Buffer.from(path, "latin1").toString("utf8").slice(0, 300))}`;
  }

  async close(): Promise<void> {
    await this.#current?.file?.close();
    this.#current = null;
    await this.#paths?.close();
    this.#paths = null;
  }

  /** Null if nobody needs to look. */
  async #open(path: string): Promise<FileHandle | null> {
    if (this.#current?.path === path) return this.#current.file;
    await this.#current?.file?.close();
    this.#current = null;
    this.#paths ??= await TreePaths.of(this.#root);
    const at = await this.#paths.at(path);
    const file = await open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { type } = await statfs(`/proc/self/fd/${file.fd}`).catch(async (error: unknown) => {
      await file.close();
      throw error;
    });
    const isTrusted = TRUSTED.has(type);
    if (isTrusted) await file.close();
    this.#current = { path, file: isTrusted ? null : file };
    return this.#current.file;
  }
}

async function hasContent(
  file: FileHandle,
  offset: number,
  bytes: number,
  signal: AbortSignal,
): Promise<boolean> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(bytes, READ_BYTES));
  for (let at = offset; at < offset + bytes;) {
    stopIfAborted(signal);
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, offset + bytes - at), at);
    if (bytesRead === 0) return false;
    if (!buffer.subarray(0, bytesRead).equals(ZEROS.subarray(0, bytesRead))) return true;
    at += bytesRead;
  }
  return false;
}

import { constants } from "node:fs";
import { type FileHandle, open, statfs } from "node:fs/promises";
import { errorCode } from "@attestore/host/errno";
import { plainLine } from "@attestore/proof";
import { RunError, stopIfAborted } from "../../errors/run-error.ts";
import { TreePaths } from "../../trees/tree-paths.ts";
import { whatToDo } from "../unreadable-source.ts";
import type { Moment } from "./attributes.ts";

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
  #current: { readonly path: string; readonly file: FileHandle | null } | null = null;

  constructor(root: string, signal: AbortSignal) {
    this.#root = root;
    this.#signal = signal;
  }

  /** @throws RunError `dump_failed` if there is content in the hole. */
  async check({ path, modified, offset, bytes }: ArchivedHole): Promise<void> {
    try {
      const file = await this.#open(path);
      if (file === null || !(await hasContent(file, offset, bytes, this.#signal))) return;
      // Whoever wrote there after tar had read it does no harm.
      if ((await file.stat({ bigint: true })).mtimeNs !== modified) return;
    } catch (error) {
      stopIfAborted(this.#signal);
      const code = errorCode(error);
      // It is gone: then the names have changed too.
      if (code === "ENOENT" || code === "ENOTDIR") return;
      if (code === null || error instanceof RunError) throw error;
      throw new RunError("dump_failed", `${this.#named(path)} cannot be read (${code}): ${whatToDo(code)}`, {
        cause: error,
      });
    }
    throw new RunError(
      "dump_failed",
      `tar would store zeros in place of content of ${this.#named(path)}: its file system says that there is a hole. ` +
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

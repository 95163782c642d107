import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { errorCode } from "@attestore/host/errno";
import { plainLine } from "@attestore/proof";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import { TreePaths } from "../../../trees/tree-paths.ts";
import type { Moment } from "../tar/attributes.ts";
import { whatToDo } from "../../unreadable-source.ts";
import { ADVICE } from "./dump-failure.ts";

/** A page in memory is stored after half a minute; a busy or saving host may take longer. */
const RECENT_NS = 600_000_000_000n;
const READ_BYTES = 1 << 20;

/** A file as it is in the archive. */
export interface ArchivedFile {
  /** As bytes (latin1). */
  readonly path: string;
  readonly modified: Moment;
  readonly size: number;
  /** In hex. */
  readonly sha256: string;
}

/**
 * Reads files once more that were written to shortly before tar read them. tar notices by a file's
 * times that somebody writes to it. A program that writes through memory (mmap) changes these only
 * at the first write to a page, and again after the kernel has stored it. So the archive may be
 * half old and half new without a word. What was written where tar had been already shows up here.
 * Paths come in the walk's order.
 */
export class RecentFiles {
  readonly #root: string;
  readonly #signal: AbortSignal;
  readonly #buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  #paths: TreePaths | null = null;

  constructor(root: string, signal: AbortSignal) {
    this.#root = root;
    this.#signal = signal;
  }

  /** @throws RunError `source_changed` */
  async check(file: ArchivedFile): Promise<void> {
    if (file.modified < BigInt(Date.now()) * 1_000_000n - RECENT_NS) return;
    const name = Buffer.from(file.path, "latin1").toString("utf8").slice(0, 300);
    const path = `${this.#root}/${plainLine(name)}`;
    let is: string | null;
    try {
      is = await this.#sha256Of(file);
    } catch (error) {
      stopIfAborted(this.#signal);
      const code = errorCode(error);
      // It is gone, or a link is in its place: then the names have changed too.
      if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP") return;
      if (code === null) throw error;
      throw new RunError("dump_failed", `${path} cannot be read (${code}): ${whatToDo(code)}`, {
        cause: error,
      });
    }
    if (is === null || is === file.sha256) return;
    throw new RunError(
      "source_changed",
      `${path} changed while it was read, although its time did not: a program writes to it through memory (mmap). ` +
        `Its copy would be half old and half new: ${ADVICE}`,
    );
  }

  /** Null if somebody wrote to it since, in a way that changes its time or size. */
  async #sha256Of({ path, modified, size }: ArchivedFile): Promise<string | null> {
    this.#paths ??= await TreePaths.of(this.#root);
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = await open(await this.#paths.at(path), flags);
    try {
      const isSame = async (): Promise<boolean> => {
        const stats = await file.stat({ bigint: true });
        return stats.isFile() && stats.mtimeNs === modified && stats.size === BigInt(size);
      };
      if (!(await isSame())) return null;
      const sha256 = await this.#read(file, size);
      return (await isSame()) ? sha256 : null;
    } finally {
      await file.close();
    }
  }

  async #read(file: FileHandle, size: number): Promise<string> {
    const hash = createHash("sha256");
    for (let at = 0; at < size;) {
      stopIfAborted(this.#signal);
      const { bytesRead } = await file.read(this.#buffer, 0, Math.min(READ_BYTES, size - at), at);
      if (bytesRead === 0) break;
      hash.update(this.#buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
    return hash.digest("hex");
  }

  async close(): Promise<void> {
    await this.#paths?.close();
    this.#paths = null;
  }
}

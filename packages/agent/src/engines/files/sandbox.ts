import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { CheckOutcome } from "@attestore/proof";
import { digestCheck, formatRow, type QueryOutcome } from "../../checks/index.ts";
import { endedWith, startChild } from "../../processes/child.ts";
import { feed } from "../../processes/feed.ts";
import { CouldNotRun, isDiskFull, stopIfAborted, systemCode } from "../../runs/could-not-run.ts";
import { makeScratchDirectory, type ScratchDirectory } from "../../sandboxes/process/scratch-directory.ts";
import {
  type InferredContext,
  type QueryLimits,
  type Restored,
  RestoreRefused,
  type RunContext,
  type Sandbox,
} from "../engine.ts";
import { readManifest } from "./manifest.ts";
import { EXTRACT, tarVersion } from "./tar.ts";
import { walk } from "./walk.ts";

export async function findFilesSandbox(): Promise<Sandbox> {
  const engine_version = await tarVersion();
  return { runtime: { kind: "process", engine: "files", engine_version }, restore };
}

async function restore(
  content: AsyncIterable<Buffer>,
  { scratchDir, signal }: RunContext,
): Promise<Restored> {
  const scratch = await makeScratchDirectory(scratchDir, null);
  try {
    const tree = join(scratch.path, "tree");
    await mkdir(tree, { mode: 0o700 });
    await extract(tree, content, signal);
    return new RestoredFiles(scratch, tree);
  } catch (error) {
    await scratch.remove();
    stopIfAborted(signal);
    if (isDiskFull(error)) throw full();
    throw error;
  }
}

async function extract(tree: string, content: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void> {
  const child = await startChild({ command: "tar", args: [...EXTRACT, `--directory=${tree}`], signal });
  child.stdout.resume();
  try {
    await feed(child.stdin, content);
  } catch (error) {
    await child.stop();
    throw error;
  }
  const exit = await child.exited;
  stopIfAborted(signal);
  if (exit.code === 0) return;
  if (/No space left on device|Disk quota exceeded|File too large/.test(exit.stderr)) throw full();
  if (exit.signal !== null) throw new CouldNotRun("sandbox_failed", `tar ended with ${endedWith(exit)}`);
  if (/Cannot mknod/.test(exit.stderr)) {
    throw new CouldNotRun("sandbox_lacks", "the backup holds device files, which only root can restore");
  }
  const line = exit.stderr.split("\n").find((each) => each.startsWith("tar: ")) ?? endedWith(exit);
  throw new RestoreRefused(`tar refuses the dump: ${line.slice(0, 200)}`);
}

class RestoredFiles implements Restored {
  readonly #scratch: ScratchDirectory;
  readonly #tree: string;

  constructor(scratch: ScratchDirectory, tree: string) {
    this.#scratch = scratch;
    this.#tree = tree;
  }

  async fingerprint(signal: AbortSignal): Promise<string> {
    return (await readManifest(this.#tree, signal)).sha256;
  }

  /** `text` is a path inside the tree; the row says what is there: `files`, `directories`, `bytes` and the time
   * of the `newest` file. */
  async query(text: string, { timeout_s, signal }: QueryLimits): Promise<QueryOutcome> {
    const path = text.trim().replace(/^\.\//, "").replace(/\/+$/, "");
    if (path === "" || path.startsWith("/") || path.split("/").includes("..")) {
      return {
        kind: "error",
        message: "a check of files takes a path inside the tree, such as . or etc/ssl",
      };
    }
    const timeout = AbortSignal.timeout(timeout_s * 1000);
    const start = Buffer.from(path).toString("latin1");
    let [found, files, directories, bytes, newest] = [false, 0, 0, 0n, 0n];
    try {
      for await (const { path: each, type, stats } of walk(this.#tree, AbortSignal.any([signal, timeout]))) {
        if (start !== "." && each !== start && !each.startsWith(`${start}/`)) continue;
        found = true;
        if (type === "directory") directories += 1;
        if (type !== "file") continue;
        files += 1;
        bytes += stats.size;
        if (stats.mtimeMs > newest) newest = stats.mtimeMs;
      }
    } catch (error) {
      stopIfAborted(signal);
      if (timeout.aborted) return { kind: "timeout", after_s: timeout_s };
      throw unreadable(error);
    }
    if (!found) return { kind: "rows", rows: [] };
    const row = formatRow([
      ["files", files],
      ["directories", directories],
      ["bytes", bytes],
      ["newest", files === 0 ? null : new Date(Number(newest)).toISOString()],
    ]);
    return { kind: "rows", rows: [row] };
  }

  async inferredChecks({ metadata, signal }: InferredContext): Promise<readonly CheckOutcome[]> {
    const expectedSha256 = metadata["manifest_sha256"];
    if (typeof expectedSha256 !== "string") return [];
    const started = performance.now();
    try {
      const observedSha256 = await this.fingerprint(signal);
      return [
        digestCheck({
          name: "manifest",
          expectedSha256,
          observedSha256,
          duration_ms: performance.now() - started,
        }),
      ];
    } catch (error) {
      stopIfAborted(signal);
      throw unreadable(error);
    }
  }

  close(): Promise<void> {
    return this.#scratch.remove();
  }
}

function unreadable(error: unknown): unknown {
  const code = systemCode(error);
  return code === null
    ? error
    : new CouldNotRun("sandbox_failed", `the restored files cannot be read (${code})`, { cause: error });
}

function full(): CouldNotRun {
  return new CouldNotRun(
    "disk_full",
    "the scratch directory's file system filled up during the restore: give it more room",
  );
}

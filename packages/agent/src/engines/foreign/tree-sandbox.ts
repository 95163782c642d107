import { chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { CheckOutcome } from "@attestore/proof";
import { evaluateCheck, formatRow, type QueryOutcome } from "../../checks/index.ts";
import { endedWith, startChild } from "../../processes/child.ts";
import { feed } from "../../processes/feed.ts";
import { unprivilegedUser } from "../../processes/unprivileged-user.ts";
import { CouldNotRun, isDiskFull, stopIfAborted } from "../../runs/could-not-run.ts";
import { makeScratchDirectory, type ScratchDirectory } from "../../sandboxes/process/scratch-directory.ts";
import {
  type InferredContext,
  type QueryLimits,
  type Restored,
  RestoreRefused,
  type RunContext,
  type Sandbox,
} from "../engine.ts";
import { gnuTarVersion, TAR } from "../files/gnu-tar.ts";
import { RestoredFiles } from "../files/restored.ts";
import { treeManifest } from "../files/tree-manifest.ts";
import { holdingEnd } from "../holding-end.ts";

/**
 * Without --absolute-names tar takes no name and no link target out of the tree: it strips a leading /, refuses .., and makes links
 * that lead elsewhere last.
 */
const ARGUMENTS = [
  "--extract",
  "--file=-",
  "--delay-directory-restore",
  "--no-same-owner",
  "--no-acls",
  "--no-xattrs",
  "--no-selinux",
  "--warning=no-timestamp",
];

export async function findTreeSandbox(): Promise<Sandbox> {
  const engine_version = await gnuTarVersion(AbortSignal.timeout(60_000));
  return { runtime: { kind: "process", engine: "files", engine_version }, restore };
}

async function restore(
  content: AsyncIterable<Buffer>,
  { scratchDir, signal }: RunContext,
): Promise<Restored> {
  const user = await unprivilegedUser();
  const scratch = await makeScratchDirectory(scratchDir, null);
  const tree = join(scratch.path, "tree");
  try {
    await mkdir(tree, { mode: 0o700 });
    if (user !== null) await chown(tree, user.uid, user.gid);
    const child = await startChild({
      command: TAR,
      args: ARGUMENTS,
      cwd: tree,
      ...(user === null ? {} : { user: { uid: user.uid, gid: user.gid } }),
      signal,
    });
    child.stdout.resume();
    const end = holdingEnd(content);
    try {
      await feed(child.stdin, end.content);
    } catch (error) {
      await child.stop();
      throw error;
    }
    const exit = await child.exited;
    stopIfAborted(signal);
    if (/No space left on device|Disk quota exceeded|Wrote only/.test(exit.stderr)) throw full();
    if (exit.code !== 0)
      throw new RestoreRefused(`tar cannot extract all of the archive (${endedWith(exit)})`);
    // tar takes an archive that stops between two entries for one that ends there.
    if (!/^\0{1024}$/.test(end.last())) throw new RestoreRefused("the archive stops before its end");
    return new RestoredTree(scratch, tree);
  } catch (error) {
    await scratch.remove();
    stopIfAborted(signal);
    throw isDiskFull(error) ? full() : error;
  }
}

function full(): CouldNotRun {
  return new CouldNotRun(
    "disk_full",
    "the scratch directory's file system filled up during the restore: give it more room",
  );
}

/** A tree that others archived: what it should hold nobody wrote down, but every byte of it has to be there to be read. */
export class RestoredTree implements Restored {
  readonly #files: RestoredFiles;
  readonly #tree: string;

  constructor(scratch: ScratchDirectory, tree: string) {
    this.#files = new RestoredFiles(scratch, tree);
    this.#tree = tree;
  }

  fingerprint(): Promise<null> {
    return Promise.resolve(null);
  }

  query(path: string, limits: QueryLimits): Promise<QueryOutcome> {
    return this.#files.query(path, limits);
  }

  async inferredChecks({ metadata, lastPassed, signal }: InferredContext): Promise<readonly CheckOutcome[]> {
    const started = performance.now();
    const { files, bytes } = await treeManifest(this.#tree, signal);
    const last = lastPassed?.checks.find(({ id }) => id === "inferred:files")?.observed["files"];
    const floor =
      typeof last === "number" && Number.isSafeInteger(last) ? Math.max(1, Math.ceil(last / 2)) : 1;
    const { restored_files: count } = metadata;
    const expect = Number.isSafeInteger(count)
      ? `files = ${String(count)} and files > 0`
      : `files >= ${floor}`;
    const row = formatRow([
      ["files", files],
      ["bytes", bytes],
    ]);
    return [
      evaluateCheck(
        { id: "inferred:files", query: "how many files and bytes the restored tree holds", expect },
        { kind: "rows", rows: [row] },
        performance.now() - started,
      ),
    ];
  }

  close(): Promise<void> {
    return this.#files.close();
  }
}

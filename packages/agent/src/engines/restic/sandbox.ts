import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { stopIfAborted } from "../../runs/could-not-run.ts";
import { makeScratchDirectory } from "../../sandboxes/process/scratch-directory.ts";
import {
  type ForeignMetadata,
  type Restored,
  RestoreRefused,
  type RunContext,
  type Sandbox,
  type SourceOf,
} from "../engine.ts";
import { findForeignSandbox, knownDump } from "../foreign/foreign-sandbox.ts";
import { originalOf } from "../foreign/original.ts";
import { readReference, type Reference } from "../foreign/reference.ts";
import { RestoredTree } from "../foreign/tree-sandbox.ts";
import { dumpedFile } from "./dumped-file.ts";
import { Restic, resticFailed, resticVersion } from "./restic.ts";
import type { ResticSettings } from "./settings.ts";
import { repositoryId, treeOf } from "./snapshots.ts";

type Pinned = Extract<Reference, { kind: "restic" }>;

/** Restores the very snapshot that a backup refers to, or one file of it. */
export async function findResticSandbox(
  metadata: ForeignMetadata,
  source: SourceOf<ResticSettings>,
): Promise<Sandbox> {
  const original = originalOf(metadata);
  const version = await resticVersion(AbortSignal.timeout(60_000));
  const isTree = original["format"] === undefined || original["format"] === "tree";
  const inner = isTree ? null : await findForeignSandbox(knownDump(original), source);
  return {
    runtime: inner?.runtime ?? { kind: "process", engine: "restic", engine_version: version },
    restore: async (content, context) => {
      const reference = await readReference(content);
      if (
        reference.kind !== "restic" ||
        reference.snapshot_id !== original["snapshot_id"] ||
        reference.tree_id !== original["tree_id"]
      )
        throw new RestoreRefused("the backup refers to another snapshot than its receipt says");
      const restic = await Restic.open(source, context.signal);
      await requireSame(restic, reference);
      if (inner === null || reference.file === null) return restoreTree(restic, reference, context);
      const dumped = await dumpedFile(restic, reference.snapshot_id, reference.file);
      try {
        return await inner.restore(dumped.content, context);
      } finally {
        await dumped.close();
      }
    },
  };
}

/** Restic itself holds what it reads against these ids. @throws RestoreRefused, CouldNotRun */
async function requireSame(restic: Restic, reference: Pinned): Promise<void> {
  if ((await repositoryId(restic)) !== reference.repository_id)
    throw new RestoreRefused("the repository is not the one that the backup refers to");
  if ((await treeOf(restic, reference.snapshot_id)) !== reference.tree_id)
    throw new RestoreRefused("the snapshot holds another tree than the backup refers to");
}

/** In a directory that only we can walk to. Restic writes through no link that it restores. */
async function restoreTree(
  restic: Restic,
  { snapshot_id }: Pinned,
  { scratchDir, signal }: RunContext,
): Promise<Restored> {
  const scratch = await makeScratchDirectory(scratchDir, null);
  try {
    const tree = join(scratch.path, "tree");
    await mkdir(tree, { mode: 0o700 });
    const child = await restic.start(["restore", snapshot_id, "--target", tree, "--verify"]);
    child.stdin.end();
    child.stdout.resume();
    const exit = await child.exited;
    stopIfAborted(signal);
    if (exit.code !== 0) throw resticFailed(exit, "restoring the snapshot");
    return new RestoredTree(scratch, tree);
  } catch (error) {
    await scratch.remove();
    stopIfAborted(signal);
    throw error;
  }
}

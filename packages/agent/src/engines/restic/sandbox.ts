import {
  type ForeignMetadata,
  type Restored,
  RestoreRefused,
  type Sandbox,
  type SourceOf,
} from "../engine.ts";
import { RunError } from "../../errors/run-error.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import { findForeignSandbox, knownDump } from "../foreign/foreign-sandbox.ts";
import { originalOf } from "../foreign/original.ts";
import { readReference, type Reference } from "../foreign/reference.ts";
import { restoreTree } from "../foreign/tree-sandbox.ts";
import { treeKey } from "../foreign/tree/compare-tree.ts";
import { dumpedFile } from "./dumped-file.ts";
import { listedTree } from "./listing.ts";
import { Restic, resticVersion } from "./restic.ts";
import type { ResticSettings } from "../../config/engines/restic.ts";
import { isListed, repositoryId, treeOf } from "./snapshots.ts";

type Pinned = Extract<Reference, { kind: "restic" }>;

/** Restores the snapshot that a backup refers to, or one file of it. */
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
        throw new RestoreRefused("the backup refers to a different snapshot than its receipt");
      const restic = await Restic.open(source, context);
      try {
        await requireSame(restic, reference);
        return await restoreDumped(restic, reference, inner, context);
      } finally {
        await restic.close();
      }
    },
  };
}

/**
 * Restic itself checks everything that it reads against these ids.
 * @throws RestoreRefused, RunError
 */
async function requireSame(restic: Restic, reference: Pinned): Promise<void> {
  if ((await repositoryId(restic)) !== reference.repository_id)
    throw new RestoreRefused("this is not the repository that the backup refers to");
  const { snapshot_id } = reference;
  if (!(await isListed(restic, snapshot_id)))
    throw new RunError(
      "ciphertext_unavailable",
      `the snapshot ${snapshot_id.slice(0, 8)} that the backup refers to is no longer in the repository: ` +
        "if it was forgotten there, register a newer one with `attestore backup`",
    );
  if ((await treeOf(restic, snapshot_id)) !== reference.tree_id)
    throw new RestoreRefused("the snapshot's tree is not the one that the backup refers to");
}

/**
 * Restic writes no files. It gives one file, or the tree as an archive. That is restored in a
 * throw-away place of its own, without the repository's password.
 */
async function restoreDumped(
  restic: Restic,
  { snapshot_id, file }: Pinned,
  inner: Sandbox | null,
  context: RunContext,
): Promise<Restored> {
  const isTree = inner === null || file === null;
  const { contentKey } = context;
  const listed =
    isTree && contentKey !== undefined ? await listedTree(restic, snapshot_id, treeKey(contentKey)) : null;
  const dumped = await dumpedFile(restic, snapshot_id, isTree ? "/" : file);
  try {
    return await (isTree
      ? restoreTree(dumped.content, context, listed)
      : inner.restore(dumped.content, context));
  } finally {
    await dumped.close();
  }
}

import { sweepTemporaryFiles } from "@attestore/host/durable-files";
import type { Layout } from "../../state/layout.ts";
import { describeHolder, lockOrRefuse, waitForLock, type HeldLock } from "../../state/lock.ts";
import { describeLeftover } from "../../sandboxes/leftovers.ts";
import { removeAbandonedDirectories } from "../../sandboxes/process/abandoned-directories.ts";
import { sweepBlobs } from "../../journal/pending-backup.ts";

export interface WorkPatience {
  readonly signal: AbortSignal;
  readonly wait: boolean;
  readonly say: (text: string) => void;
}

/**
 * The lock for working in a root. Its holder knows that a half-written file was left by a killed
 * process, and removes it first.
 */
export async function takeWorkLock(layout: Layout, what: string, patience: WorkPatience): Promise<HeldLock> {
  const { signal, wait, say } = patience;
  const lock = wait
    ? await waitForLock(layout, "work", what, {
        signal,
        onWait: (holder) =>
          say(`Waiting for ${describeHolder(holder)}, which is using this root. Ctrl-C cancels.`),
      })
    : await lockOrRefuse(layout, "work", what);
  try {
    await tidyUp(layout, say);
    return lock;
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function tidyUp(layout: Layout, say: (text: string) => void): Promise<void> {
  // Commands are also written without this lock. Their leftovers are removed when an agent starts.
  for (const directory of [layout.receiptsWaiting, layout.blobs]) await sweepTemporaryFiles(directory);
  await sweepBlobs(layout);
  for (const { path, problem } of await removeAbandonedDirectories(layout.scratch))
    if (problem !== null) say(describeLeftover({ kind: "directory", name: path, problem }));
}

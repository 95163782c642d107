import { chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { endedWith, type Exit, startChild } from "../../processes/child.ts";
import { feed } from "../../processes/feed.ts";
import { unprivilegedUser } from "../../processes/unprivileged-user.ts";
import { CouldNotRun, isDiskFull, stopIfAborted } from "../../runs/could-not-run.ts";
import { makeScratchDirectory, type ScratchDirectory } from "../../sandboxes/process/scratch-directory.ts";
import type { RunContext } from "../engine.ts";
import { TAR } from "./gnu-tar.ts";

/**
 * Without --absolute-names tar takes no name and no link target out of the tree: it strips a leading /, refuses .., makes links
 * that lead elsewhere last, and never writes through one.
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

/** A short write has no error number of its own in tar's message. */
const FULL = /No space left on device|Disk quota exceeded|File too large|Wrote only [0-9]+ of [0-9]+ bytes/;

export interface ExtractedTree {
  readonly scratch: ScratchDirectory;
  /** The tree's own directory. */
  readonly tree: string;
}

export interface Extraction {
  /** What tar is told besides. */
  readonly options: readonly string[];
  /** Throws what is to be said of an archive that tar ended so with: by itself, and not for want of room. */
  readonly judge: (exit: Exit) => void;
}

/**
 * Unpacks a tar archive in a directory that only we can walk to, so that nobody meets what is restored there: set-user-ID
 * programs, names that lead elsewhere. If we are root, tar runs as somebody else and has neither devices nor anybody's
 * files to make. On an error nothing is left.
 * @throws CouldNotRun, what `judge` throws, and whatever the content throws.
 */
export async function extractTree(
  content: AsyncIterable<Buffer>,
  { options, judge }: Extraction,
  { scratchDir, signal }: RunContext,
): Promise<ExtractedTree> {
  const user = await unprivilegedUser();
  const scratch = await makeScratchDirectory(scratchDir, null);
  const tree = join(scratch.path, "tree");
  try {
    await mkdir(tree, { mode: 0o700 });
    if (user !== null) await chown(tree, user.uid, user.gid);
    const child = await startChild({
      command: TAR,
      args: [...ARGUMENTS, ...options],
      // Entered before the user is changed: it could not walk there itself.
      cwd: tree,
      ...(user === null ? {} : { user: { uid: user.uid, gid: user.gid } }),
      signal,
    });
    child.stdout.resume();
    try {
      await feed(child.stdin, content);
    } catch (error) {
      await child.stop();
      throw error;
    }
    const exit = await child.exited;
    stopIfAborted(signal);
    if (exit.code !== 0 && FULL.test(exit.stderr)) throw full();
    if (exit.signal !== null) throw new CouldNotRun("sandbox_failed", `tar ended with ${endedWith(exit)}`);
    judge(exit);
    return { scratch, tree };
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

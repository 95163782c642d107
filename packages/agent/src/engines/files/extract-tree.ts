import { join } from "node:path";
import { endedWith, type Exit } from "../../processes/child.ts";
import { feed } from "../../processes/feed.ts";
import { RunError, stopIfAborted } from "../../errors/run-error.ts";
import { openIsolatedPlace } from "../../sandboxes/isolation/open-isolated-place.ts";
import type { Place } from "../../sandboxes/place.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import { TAR } from "./gnu-tar.ts";

/**
 * Without --absolute-names tar takes no name and no link target out of the tree: it strips a
 * leading /, refuses .., makes links that lead elsewhere last, and never writes through one.
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
  readonly place: Place;
  /** The tree's own directory, in the place. */
  readonly tree: string;
}

export interface Extraction {
  /** What tar is told besides. */
  readonly options: readonly string[];
  /**
   * Throws what is to be said of an archive that tar ended so with: by itself, and not for want of
   * room.
   */
  readonly judge: (exit: Exit) => void;
}

/**
 * Unpacks a tar archive in a throw-away place, as whoever its programs run as. On an error nothing is left.
 * @throws RunError, what `judge` throws, and whatever the content throws.
 */
export async function extractTree(
  content: AsyncIterable<Buffer>,
  { options, judge }: Extraction,
  context: RunContext,
): Promise<ExtractedTree> {
  const { signal } = context;
  const place = await openIsolatedPlace(context);
  const tree = join(place.home, "tree");
  try {
    const child = await place.start({
      command: "/bin/sh",
      args: ["-c", 'umask 077; mkdir "$0" && cd "$0" && exec "$@"', tree, TAR, ...ARGUMENTS, ...options],
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
    // The bound of a file's size is at most what the file system had room for.
    if (exit.signal === "SIGXFSZ" || (exit.code !== 0 && FULL.test(exit.stderr))) throw full();
    if (exit.signal !== null) throw new RunError("sandbox_failed", `tar ended with ${endedWith(exit)}`);
    judge(exit);
    return { place, tree };
  } catch (error) {
    await place.close();
    stopIfAborted(signal);
    throw error;
  }
}

function full(): RunError {
  return new RunError(
    "disk_full",
    "the scratch directory's file system filled up during the restore: give it more space",
  );
}

import { join } from "node:path";
import { endedWith, type Exit } from "../../../processes/child.ts";
import { feed } from "../../../processes/feed.ts";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import { openIsolatedPlace } from "../../../sandboxes/isolation/open-isolated-place.ts";
import type { Place } from "../../../sandboxes/place.ts";
import type { RunContext } from "../../../sandboxes/run-context.ts";
import { TAR } from "../tar/gnu-tar.ts";
import { TarWarnings, type UnsetAttributes } from "../tar/tar-warnings.ts";

/**
 * Without --absolute-names, no name and no link target leads tar out of the tree: it strips a
 * leading /, refuses .., makes links that lead elsewhere last, and never writes through one.
 */
const ARGUMENTS = [
  "--extract",
  "--file=-",
  "--delay-directory-restore",
  "--no-same-owner",
  "--no-selinux",
  "--quoting-style=escape",
  "--warning=no-timestamp",
];

/** tar's message for a short write contains no error number. */
const FULL = /No space left on device|Disk quota exceeded|File too large|Wrote only [0-9]+ of [0-9]+ bytes/;

export interface ExtractedTree {
  readonly place: Place;
  /** The tree's own directory, in the place. */
  readonly tree: string;
  readonly unset: UnsetAttributes;
}

export interface Extraction {
  /** More arguments for tar. */
  readonly options: readonly string[];
  /**
   * Throws the error for an archive on which tar ended like this, without being killed and without
   * running out of space.
   */
  readonly judge: (exit: Exit) => void;
}

/**
 * Unpacks a tar archive in a throw-away place, as the user of the place's programs. After an error
 * nothing is left.
 * @throws RunError, any error from `judge` and from the content.
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
    const warnings = new TarWarnings();
    child.stderr.on("data", (text: string) => {
      warnings.push(text);
    });
    try {
      await feed(child.stdin, content);
    } catch (error) {
      await child.stop();
      throw error;
    }
    const exit = await child.exited;
    stopIfAborted(signal);
    // The limit on a file's size is at most the space that the file system had.
    if (exit.signal === "SIGXFSZ" || (exit.code !== 0 && FULL.test(exit.stderr))) throw full();
    if (exit.signal !== null) throw new RunError("sandbox_failed", `tar ended with ${endedWith(exit)}`);
    judge(exit);
    return { place, tree, unset: warnings.finish() };
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

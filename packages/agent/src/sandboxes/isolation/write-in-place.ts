import { endedWith } from "../../processes/child.ts";
import { feed } from "../../processes/feed.ts";
import { RunError, stopIfAborted } from "../../errors/run-error.ts";
import type { Place } from "../place.ts";

const FULL = /No space left on device|Disk quota exceeded|File too large/;

/**
 * Writes a file of a place, and the directory that it is in, as the user of the place's programs.
 * @throws RunError, and whatever the content throws.
 */
export async function writeInPlace(
  place: Place,
  path: string,
  content: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  const args = ["-c", 'umask 077; mkdir -p "${0%/*}" && exec cat >"$0"', path];
  const child = await place.start({ command: "/bin/sh", args, isFedDirectly: true, signal });
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
  throw FULL.test(exit.stderr) || exit.signal === "SIGXFSZ"
    ? new RunError(
        "disk_full",
        "the scratch directory's file system filled up during the restore: give it more space",
      )
    : new RunError("sandbox_failed", `the restored file could not be written (${endedWith(exit)})`);
}

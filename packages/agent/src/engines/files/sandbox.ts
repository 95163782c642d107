import { chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { endedWith, type Exit, startChild } from "../../processes/child.ts";
import { feed } from "../../processes/feed.ts";
import { unprivilegedUser } from "../../processes/unprivileged-user.ts";
import { CouldNotRun, isDiskFull, stopIfAborted } from "../../runs/could-not-run.ts";
import { makeScratchDirectory } from "../../sandboxes/process/scratch-directory.ts";
import { type Restored, RestoreRefused, type RunContext, type Sandbox } from "../engine.ts";
import { gnuTarVersion, TAR } from "./gnu-tar.ts";
import { RestoredFiles } from "./restored.ts";
import { MalformedArchive } from "./tar-header.ts";
import { TarReader, type TarSink } from "./tar-reader.ts";
import type { TreeEntry } from "./tree-entry.ts";

/** tar makes symbolic links that lead out of the tree last, and never writes through one. */
const ARGUMENTS = [
  "--extract",
  "--file=-",
  "--preserve-permissions",
  "--delay-directory-restore",
  "--no-same-owner",
  "--no-acls",
  "--no-xattrs",
  "--no-selinux",
  "--quoting-style=escape",
  "--warning=no-timestamp",
];

export async function findFilesSandbox(): Promise<Sandbox> {
  const engine_version = await gnuTarVersion(AbortSignal.timeout(60_000));
  return { runtime: { kind: "process", engine: "files", engine_version }, restore };
}

/**
 * A tree in a directory that only we can walk to, so that nobody meets what is restored there: set-user-ID programs, names
 * that lead elsewhere. If we are root, tar runs as somebody else and has neither devices nor anybody's files to make.
 */
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
      // Entered before the user is changed: it could not walk there itself.
      cwd: tree,
      ...(user === null ? {} : { user: { uid: user.uid, gid: user.gid } }),
      signal,
    });
    child.stdout.resume();
    try {
      await feed(child.stdin, whatIsSafe(content));
    } catch (error) {
      await child.stop();
      throw error;
    }
    const exit = await child.exited;
    stopIfAborted(signal);
    if (exit.code !== 0) throw refusalOf(exit);
    return new RestoredFiles(scratch, tree);
  } catch (error) {
    await scratch.remove();
    stopIfAborted(signal);
    throw isDiskFull(error) ? full() : error;
  }
}

/** Passes on what was looked at. After a refusal the rest is read, and not passed on: whether it was whole, its end tells. */
async function* whatIsSafe(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  const reader = new TarReader(new SafeEntries());
  let refusal: RestoreRefused | CouldNotRun | null = null;
  const orRefuse = async (look: () => void | Promise<void>): Promise<void> => {
    try {
      await look();
    } catch (error) {
      if (error instanceof MalformedArchive)
        refusal = new RestoreRefused(`no tar archive of a backup: ${error.message}`);
      else if (error instanceof CouldNotRun) refusal = error;
      else throw error;
    }
  };
  for await (const piece of content) {
    if (refusal !== null) continue;
    await orRefuse(() => reader.push(piece));
    if (refusal === null) yield piece;
  }
  if (refusal === null) await orRefuse(() => reader.end());
  if (refusal !== null) throw refusal;
}

class SafeEntries implements TarSink {
  entry({ kind }: TreeEntry): void {
    if (kind === "device") {
      throw new CouldNotRun(
        "sandbox_lacks",
        "the backup holds a device file, which no throw-away place may make: back up a directory without one",
      );
    }
  }
  content(): void {}
  hole(): void {}
  entryEnd(): void {}
}

/** A short write has no error number of its own in tar's message. */
const FULL = /No space left on device|Disk quota exceeded|File too large|Wrote only [0-9]+ of [0-9]+ bytes/;
const OF_THE_ARCHIVE = /: (?:No such file or directory|File exists|Is a directory|Not a directory)$/m;

/** What is wrong with the archive itself was found before tar got it, but for a few things; the rest is of the place. */
function refusalOf(exit: Exit): CouldNotRun | RestoreRefused {
  if (FULL.test(exit.stderr)) return full();
  // Which entry it was is left out: names are data here.
  const why = /: (Cannot [a-z ]{1,40}).*: ([A-Z][a-z ]{1,60})$/m.exec(exit.stderr);
  const message = `tar ended with ${endedWith(exit)}${why === null ? "" : `: ${why[1]?.trim()}: ${why[2]}`}`;
  return exit.signal === null && OF_THE_ARCHIVE.test(exit.stderr)
    ? new RestoreRefused(message)
    : new CouldNotRun("sandbox_failed", message);
}

function full(): CouldNotRun {
  return new CouldNotRun(
    "disk_full",
    "the scratch directory's file system filled up during the restore: give it more room",
  );
}

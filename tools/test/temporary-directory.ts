import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { availableMemory } from "node:process";

/** The rest of the name is the process that tests. */
const PREFIX = "attestore-tests-";
/** What tests have at the same time is a third of it. */
const ROOM_BYTES = 8 * 2 ** 30;

/**
 * Where tests put their files if nobody said so by TMPDIR: in memory, where there is enough of it
 * and we may mount it. Tests make and remove some hundred database clusters, each of a thousand
 * files, and on ext4 that alone is a fifth of the processor time of such a test.
 * Null: in the system's own place.
 */
export function directoryInMemory(): string | null {
  if (process.env["TMPDIR"] !== undefined || process.geteuid?.() !== 0) return null;
  for (const name of readdirSync(tmpdir()))
    if (name.startsWith(PREFIX) && !existsSync(`/proc/${name.slice(PREFIX.length)}`))
      discard(join(tmpdir(), name));
  if (availableMemory() < 1.5 * ROOM_BYTES) return null;
  const directory = join(tmpdir(), `${PREFIX}${process.pid}`);
  mkdirSync(directory);
  const options = `mode=1777,size=${ROOM_BYTES}`;
  const isMounted =
    spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", directory], { stdio: "ignore" }).status === 0;
  if (isMounted && holdsAttributes(directory)) return directory;
  discard(directory);
  return null;
}

/**
 * Also if a test that was killed left something mounted in it, or wrote to it once it was
 * unmounted.
 */
export function discard(directory: string): void {
  spawnSync("umount", ["--lazy", directory], { stdio: "ignore" });
  spawnSync("rm", ["-rf", "--one-file-system", directory], { stdio: "inherit" });
}

/** Linux before 6.6 keeps no user attributes in memory, and tests of files set some. */
function holdsAttributes(directory: string): boolean {
  const set = "import os, sys; os.setxattr(sys.argv[1], 'user.attestore', b'1')";
  return spawnSync("python3", ["-c", set, directory], { stdio: "ignore" }).status === 0;
}

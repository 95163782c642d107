import { lstat, realpath } from "node:fs/promises";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import type { Layout } from "../../state/layout.ts";
import { SYSTEM_ROOT } from "../../state/trusted-root.ts";
import { type Finding, ok, warning } from "@attestore/host/finding";

/**
 * Whether the file that systemd reads as root for the packaged unit belongs to root. For other
 * roots only their owner reads it.
 */
export async function examineEnvironment(layout: Layout): Promise<Finding[]> {
  if ((await realpath(layout.root)) !== SYSTEM_ROOT) return [];
  const [directory, file] = await Promise.all([lstat(layout.root), nullIfMissing(lstat(layout.environment))]);
  return [
    isKeptByRoot(directory, file)
      ? ok("env", "only root can change it")
      : warning(
          "env",
          `the agent's user can replace ${layout.environment}, which root's systemd reads`,
          "as root: /usr/lib/attestore/migrate",
        ),
  ];
}

const STICKY = 0o1000;
const OTHERS_WRITE = 0o022;

interface Owned {
  uid: number;
  mode: number;
}

/**
 * Whether nobody but root can make, change or replace the file. In a directory that others may
 * write, as the package's is, they could make one that is missing; `sticky` keeps one that is
 * there.
 */
export function isKeptByRoot(directory: Owned, file: Owned | null): boolean {
  if (directory.uid !== 0) return false;
  const isRoots = file !== null && file.uid === 0 && (file.mode & OTHERS_WRITE) === 0;
  if ((directory.mode & OTHERS_WRITE) === 0) return file === null || isRoots;
  return (directory.mode & STICKY) !== 0 && isRoots;
}

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
  const isKept = directory.uid === 0 && (directory.mode & 0o1000) !== 0 && file?.uid === 0;
  return [
    isKept
      ? ok("env", "only root can change it")
      : warning(
          "env",
          `the agent's user can replace ${layout.environment}, which root's systemd reads`,
          "as root: /usr/lib/attestore/migrate",
        ),
  ];
}

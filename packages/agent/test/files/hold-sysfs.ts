import { closeSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** A directory of small files on a file system that counts no blocks, which every Linux has. */
export const SYSFS = "/sys/module/kernel/parameters";

/** Files whose size is 0 and that have content, which every Linux has. */
export const PROCFS = "/proc/sys/kernel/random";

/**
 * How a backup of such a directory failed. The kernel forgets when such files were made unless
 * somebody has them open; it was once seen to give them another time nevertheless. tar then says
 * that they changed, which is another failure, and the next one tells.
 */
export async function failureOnSysfs(backUp: () => Promise<unknown>, directory = SYSFS): Promise<unknown> {
  const names = [".", ...readdirSync(directory)];
  const held = names.map((name) => openSync(join(directory, name), "r"));
  try {
    for (let left = 3; ; left--) {
      const error = await backUp().then(
        () => null,
        (thrown: unknown) => thrown,
      );
      if (left === 0 || (error as { code?: unknown } | null)?.code !== "source_changed") return error;
    }
  } finally {
    for (const each of held) closeSync(each);
  }
}

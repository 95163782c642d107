import { closeSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** A directory of small files on a file system that counts no blocks, which every Linux has. */
export const SYSFS = "/sys/module/kernel/parameters";

/** The kernel forgets when such files were made, unless somebody has them open. */
export function holdSysfs(): { close(): void } {
  const names = [".", ...readdirSync(SYSFS)];
  const held = names.map((name) => openSync(join(SYSFS, name), "r"));
  return {
    close: () => {
      for (const each of held) closeSync(each);
    },
  };
}

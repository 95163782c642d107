import { stat } from "node:fs/promises";
import { join } from "node:path";
import { shellWord } from "@attestore/proof";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import type { ResolvedRoot } from "../../state/resolve-root.ts";
import { failed, type Finding, ok } from "@attestore/host/finding";

const WRITE_OF_OTHERS = 0o002;

/** Where the root is, and whether other users can change what the agent does. */
export async function examineRoot({ path, branch }: ResolvedRoot): Promise<Finding> {
  for (const file of [path, join(path, "config.yaml")]) {
    const stats = await nullIfMissing(stat(file));
    if (stats === null || (stats.mode & WRITE_OF_OTHERS) === 0) continue;
    return failed(
      "root",
      `every user of this host may write to ${file}, and so decide what the agent runs`,
      `chmod o-w ${shellWord(file)}`,
    );
  }
  return ok("root", `${path} (${branch === "/var/lib/attestore" ? "the default" : `from ${branch}`})`);
}

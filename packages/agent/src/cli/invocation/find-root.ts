import { existsSync } from "node:fs";
import { becomeOwner } from "../../state/become-owner.ts";
import { readConfig, type Config } from "../../config/config.ts";
import type { HandOver } from "../../state/hand-over.ts";
import { loadEnvironmentFile } from "../../state/environment-file.ts";
import { layoutOf } from "../../state/layout.ts";
import { resolveRoot, resolveRootForInit, type ResolvedRoot } from "../../state/resolve-root.ts";
import type { RootSurroundings } from "../../state/resolve-root.ts";
import { requireTrustedRoot } from "../../state/trusted-root.ts";
import { UserError } from "../../errors/user-error.ts";

/** The root and its configuration, or their faults, for commands that can do without. */
export type FoundRoot = (
  | { readonly resolved: ResolvedRoot; readonly config: Config; readonly problem: null }
  | { readonly resolved: ResolvedRoot | null; readonly config: null; readonly problem: UserError }
) & {
  /** If root called, how the file of `--output` gets to where only root may write. */
  readonly handOver: HandOver | null;
};

/**
 * Finds the root once per call, before the command runs, because `defaults:` apply to the flags of
 * every command.
 */
export async function findRoot(
  around: RootSurroundings,
  { mayBeFresh, output }: { readonly mayBeFresh: boolean; readonly output: string | null },
): Promise<FoundRoot> {
  let resolved: ResolvedRoot | null = null;
  let handOver: HandOver | null = null;
  try {
    resolved = mayBeFresh ? resolveRootForInit(around) : resolveRoot(around);
    const layout = layoutOf(resolved.path);
    if (!existsSync(layout.root))
      throw new UserError("root_missing", `${layout.root} (from ${resolved.branch}) does not exist`);
    requireTrustedRoot(resolved, around);
    handOver = becomeOwner(layout.root, output);
    loadEnvironmentFile(layout.environment, process.env);
    return { resolved, config: await readConfig(layout.config, layout.root), problem: null, handOver };
  } catch (error) {
    // Never look into a root, or create anything in one, that somebody else may have put there.
    if (error instanceof UserError && error.code === "root_untrusted")
      return { resolved: null, config: null, problem: error, handOver };
    if (error instanceof UserError) return { resolved, config: null, problem: error, handOver };
    throw error;
  }
}

import { existsSync } from "node:fs";
import { readConfig, type Config } from "../root/config.ts";
import { layoutOf, makeLayout, type Layout } from "../root/layout.ts";
import { resolveRoot, type ResolvedRoot, type RootSurroundings } from "../root/resolve-root.ts";
import type { SourceConfig } from "../root/source-config.ts";
import { nearestName } from "../root/nearest-name.ts";
import { UserError } from "../root/user-error.ts";
import { openAttachment, type Attachment } from "../service/attachment.ts";
import type { Call } from "./command.ts";
import type { Flags } from "./flags.ts";

export interface OpenRoot {
  readonly resolved: ResolvedRoot;
  readonly layout: Layout;
  readonly config: Config;
  /** The call's flags, with `defaults:` behind them. */
  readonly flags: Flags;
}

export function surroundings({ flags, env, cwd }: Call): RootSurroundings {
  return { flag: flags.typed("root"), env, cwd, uid: process.getuid?.() ?? 1 };
}

/** @throws UserError root_missing, config_invalid */
export async function openRoot(call: Call): Promise<OpenRoot> {
  const resolved = resolveRoot(surroundings(call));
  const layout = layoutOf(resolved.path);
  if (!existsSync(layout.root))
    throw new UserError("root_missing", `${layout.root} (from ${resolved.branch}) does not exist`);
  const config = await readConfig(layout.config, layout.root);
  return { resolved, layout, config, flags: call.flags.withDefaults(config.defaults) };
}

/** A root of an attached host, ready to work in. @throws UserError */
export async function openAttachedRoot(call: Call): Promise<OpenRoot & { readonly attachment: Attachment }> {
  const root = await openRoot(call);
  const attachment = await openAttachment(root.layout, root.config);
  // What an older version did not have, or somebody removed.
  await makeLayout(root.layout);
  return { ...root, attachment };
}

/** The source that a call is about: named, by default, or the only one. @throws UserError source_unknown, usage */
export function chosenSource({ config, flags, layout }: OpenRoot): SourceConfig {
  const names = [...config.sources.keys()];
  const wanted = flags.text("source");
  if (wanted === undefined) {
    const [only, ...more] = config.sources.values();
    if (only !== undefined && more.length === 0) return only;
    throw new UserError(
      "usage",
      names.length === 0
        ? `${layout.config} declares no source. Add one under \`sources:\`.`
        : `which source? Name one with --source, or in \`defaults:\` of ${layout.config}: ${names.join(", ")}`,
    );
  }
  const source = config.sources.get(wanted);
  if (source !== undefined) return source;
  const near = nearestName(wanted, names);
  throw new UserError(
    "source_unknown",
    `${layout.config} has no source "${wanted}"${near === null ? "" : `; did you mean "${near}"?`}`,
  );
}

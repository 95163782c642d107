import type { Config } from "../root/config.ts";
import { layoutOf, makeLayout, type Layout } from "../root/layout.ts";
import type { ResolvedRoot } from "../root/resolve-root.ts";
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
  readonly flags: Flags;
}

/** @throws UserError root_missing, config_invalid */
export function openRoot({ root, flags }: Call): OpenRoot {
  if (root.config === null) throw root.problem;
  return { resolved: root.resolved, layout: layoutOf(root.resolved.path), config: root.config, flags };
}

/** A root of an attached host, ready to work in. @throws UserError */
export async function openAttachedRoot(call: Call): Promise<OpenRoot & { readonly attachment: Attachment }> {
  const root = openRoot(call);
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
  const known = names.length === 0 ? "it declares none" : `it has ${names.join(", ")}`;
  const hint = near === null ? known : `did you mean "${near}"? (${known})`;
  throw new UserError("source_unknown", `${layout.config} has no source "${wanted}"; ${hint}`);
}

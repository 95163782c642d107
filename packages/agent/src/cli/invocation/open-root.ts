import { nearestName } from "@attestore/host/nearest-name";
import { readConfig, type Config } from "../../config/config.ts";
import { layoutOf, makeLayout, type Layout } from "../../state/layout.ts";
import { notAttached } from "../../service/not-attached.ts";
import type { ResolvedRoot } from "../../state/resolve-root.ts";
import type { SourceConfig } from "../../config/source-config.ts";
import { parseRate, type UploadConfig } from "../../config/upload-config.ts";
import { UserError } from "../../errors/user-error.ts";
import { openAttachment, type Attachment } from "../../service/attachment.ts";
import { attachedBackend } from "../../backends/attached/attached-backend.ts";
import type { Call } from "./command.ts";
import type { Flags } from "./flags.ts";
import type { BackupBackend } from "../../backends/backup-backend.ts";
import { openStandaloneBackend } from "../../backends/standalone/standalone-backend.ts";

export interface OpenRoot {
  readonly resolved: ResolvedRoot;
  readonly layout: Layout;
  readonly config: Config;
  readonly flags: Flags;
}

/** @throws UserError root_missing, config_invalid */
export function openRoot({ root, flags }: Call): OpenRoot {
  if (root.config === null) throw root.problem;
  const config = { ...root.config, upload: pacedUpload(root.config.upload, flags) };
  return { resolved: root.resolved, layout: layoutOf(root.resolved.path), config, flags };
}

/**
 * Reads config.yaml again. A call that waited for a lock waited for another process, which may have
 * changed it.
 * @throws ConfigError
 */
export async function configNow({ layout, flags }: OpenRoot): Promise<Config> {
  const config = await readConfig(layout.config, layout.root);
  return { ...config, upload: pacedUpload(config.upload, flags) };
}

/**
 * `--max-rate`, which replaces the value in config.yaml.
 * @throws UserError usage
 */
export function pacedUpload(upload: UploadConfig, flags: Flags): UploadConfig {
  const text = flags.text("maxRate");
  if (text === undefined) return upload;
  const maxBytesPerSecond = parseRate(text);
  if (maxBytesPerSecond !== null) return { ...upload, maxBytesPerSecond };
  throw new UserError("usage", `--max-rate takes bytes a second, such as 500kB or 20MB, not "${text}"`);
}

/**
 * Opens an attached or standalone root to work in.
 * @throws UserError
 */
export async function openBackend(call: Call): Promise<OpenRoot & { readonly backend: BackupBackend }> {
  const root = openRoot(call);
  const { layout, config } = root;
  if (config.standalone === null) {
    const attached = await openAttachedRoot(call);
    return { ...root, backend: attachedBackend(attached.attachment) };
  }
  await makeLayout(layout);
  return { ...root, backend: await openStandaloneBackend(layout, config) };
}

/**
 * Opens the root of an attached host to work in.
 * @throws UserError
 */
export async function openAttachedRoot(call: Call): Promise<OpenRoot & { readonly attachment: Attachment }> {
  const root = openRoot(call);
  const attachment = await openAttachment(root.layout, root.config);
  // Create what an older version did not have, or what somebody removed.
  await makeLayout(root.layout);
  return { ...root, attachment };
}

/**
 * The source to work on: the named one, the default, or the only one.
 * @throws UserError not_attached, source_unknown, usage
 */
export function chosenSource({ config, flags, layout }: OpenRoot): SourceConfig {
  const names = [...config.sources.keys()];
  if (config.agent === null && names.length === 0) throw notAttached(layout, config);
  const wanted = flags.text("source");
  if (wanted === undefined) {
    const [only, ...more] = config.sources.values();
    if (only !== undefined && more.length === 0) return only;
    throw new UserError(
      "usage",
      names.length === 0
        ? `${layout.config} has no source. Add one: attestore source add`
        : `which source? Name one with --source, or in \`defaults:\` of ${layout.config}: ${names.join(", ")}`,
    );
  }
  return requireSource({ config, layout }, wanted);
}

/** @throws UserError source_unknown. The message names the existing sources. */
export function requireSource(
  { config, layout }: Pick<OpenRoot, "config" | "layout">,
  wanted: string,
): SourceConfig {
  const names = [...config.sources.keys()];
  const source = config.sources.get(wanted);
  if (source !== undefined) return source;
  const near = nearestName(wanted, names);
  const known = names.length === 0 ? "it has no sources" : `it has ${names.join(", ")}`;
  const hint = near === null ? known : `did you mean "${near}"? (${known})`;
  throw new UserError("source_unknown", `${layout.config} has no source "${wanted}"; ${hint}`);
}

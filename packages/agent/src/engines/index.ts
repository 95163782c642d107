import type { SourceConfig } from "../config/source-config.ts";
import type { ClientVersions, Dump, ForeignMetadata, Sandbox } from "./engine.ts";
import type { RunContext } from "../sandboxes/run-context.ts";
import { loadEngine } from "./load-engine.ts";

/** Starts the dump of a source with its engine. @throws RunError */
export async function dumpSource(source: SourceConfig, context: RunContext): Promise<Dump> {
  return (await loadEngine(source.engine)).dump(source as never, context);
}

/**
 * The throw-away place that such a backup of a source would be restored in, so far only looked for.
 * @throws RunError `tool_missing`, `tool_too_old`.
 */
export async function findSandbox(
  source: SourceConfig,
  metadata: ForeignMetadata,
  sources: readonly SourceConfig[] = [source],
): Promise<Sandbox> {
  return (await loadEngine(source.engine)).findSandbox(metadata, source as never, [source, ...sources]);
}

/** What dumps the source's server, and whether it can; null where there is no server. @throws RunError */
export async function clientVersions(
  source: SourceConfig,
  context: RunContext,
): Promise<ClientVersions | null> {
  const { versions } = await loadEngine(source.engine);
  return versions === undefined ? null : versions(source as never, context);
}

import type { EngineName, SourceConfig } from "../root/source-config.ts";
import type { ClientVersions, Dump, Engine, ForeignMetadata, RunContext, Sandbox } from "./engine.ts";
import { ENGINES } from "./registry.ts";

/** Starts the dump of a source with its engine. @throws CouldNotRun */
export async function dumpSource(source: SourceConfig, context: RunContext): Promise<Dump> {
  return (await engineNamed(source.engine)).dump(source as never, context);
}

/**
 * The throw-away place that such a backup of a source would be restored in, so far only looked for.
 * @throws CouldNotRun `tool_missing`, `tool_too_old`.
 */
export async function findSandbox(
  source: SourceConfig,
  metadata: ForeignMetadata,
  sources: readonly SourceConfig[] = [source],
): Promise<Sandbox> {
  return (await engineNamed(source.engine)).findSandbox(metadata, source as never, [source, ...sources]);
}

/** What dumps the source's server, and whether it can; null where there is no server. @throws CouldNotRun */
export async function clientVersions(
  source: SourceConfig,
  context: RunContext,
): Promise<ClientVersions | null> {
  const { versions } = await engineNamed(source.engine);
  return versions === undefined ? null : versions(source as never, context);
}

/** A source is only ever given to the engine that it names, which the compiler can't follow through the name. */
async function engineNamed(name: EngineName): Promise<Engine<never>> {
  return ENGINES[name].load();
}

import type { EngineName, SourceConfig, SourceConfigOf } from "../config/source-config.ts";
import type { ConnectionReference } from "../config/source-config.ts";
import type { ClientVersions, Dump, Engine, ForeignMetadata, Sandbox, SourceCheck } from "./engine.ts";
import type { Measurables } from "./measurable.ts";
import type { Target, TargetRequest } from "./target.ts";
import type { Proposals } from "../checks/index.ts";
import type { RunContext } from "../sandboxes/run-context.ts";

type Loaders = { readonly [Name in EngineName]: () => Promise<Engine<SourceConfigOf<Name>>> };

/**
 * Loads only the engine that runs, because each one has its own programs, formats and libraries.
 */
const LOADERS: Loaders = {
  postgresql: async () => (await import("./postgresql/index.ts")).postgresql,
  mariadb: async () => (await import("./mariadb/index.ts")).mariadb,
  mysql: async () => (await import("./mariadb/index.ts")).mariadb,
  mongodb: async () => (await import("./mongodb/index.ts")).mongodb,
  sqlite: async () => (await import("./sqlite/index.ts")).sqlite,
  dumps: async () => (await import("./dumps/index.ts")).dumps,
  restic: async () => (await import("./restic/index.ts")).restic,
  files: async () => (await import("./files/index.ts")).files,
};

/** A source is only given to its own engine. The compiler can't see that from the name. */
function loadEngine(name: EngineName): Promise<Engine<never>> {
  return LOADERS[name]();
}

/**
 * Starts the dump of a source with its engine.
 * @throws RunError
 */
export async function dumpSource(source: SourceConfig, context: RunContext): Promise<Dump> {
  return (await loadEngine(source.engine)).dump(source as never, context);
}

/**
 * Finds the throw-away place for restoring such a backup, but does not open it yet.
 * @throws RunError `tool_missing`, `tool_too_old`.
 */
export async function findSandbox(
  source: SourceConfig,
  metadata: ForeignMetadata,
  sources: readonly SourceConfig[] = [source],
): Promise<Sandbox> {
  return (await loadEngine(source.engine)).findSandbox(metadata, source as never, [source, ...sources]);
}

/**
 * Finds the database of a running server to restore a backup into. Only reads.
 * @throws UserError target_unusable, usage; RunError
 */
export async function openTarget(
  engine: EngineName,
  request: TargetRequest,
  metadata: ForeignMetadata,
  context: { readonly scratchDir: string; readonly signal: AbortSignal },
): Promise<Target> {
  if (engine === "postgresql")
    return (await import("./postgresql/target/target.ts")).openPostgresqlTarget(
      request,
      metadata,
      context.signal,
    );
  return (await import("./mariadb/target/target.ts")).openMariadbTarget(request, metadata, context);
}

/**
 * Proposes checks that were tried on the source's data and on ruined data.
 * @throws RunError
 */
export async function proposals(source: SourceConfig, context: RunContext): Promise<Proposals> {
  const { propose } = await loadEngine(source.engine);
  return propose === undefined ? { checks: [], notProposed: [] } : propose(source as never, context);
}

/**
 * The tables of a source and their columns; null for an engine that lists none.
 * @throws RunError
 */
export async function listColumns(source: SourceConfig, context: RunContext): Promise<Measurables | null> {
  const { columns } = await loadEngine(source.engine);
  return columns === undefined ? null : columns(source as never, context);
}

/**
 * The databases of a running server, and which engine it is. `called` is for messages.
 * @throws RunError
 */
export async function listDatabases(
  engine: "postgresql" | "mariadb",
  connection: ConnectionReference,
  called: string,
  context: { readonly scratchDir: string; readonly signal: AbortSignal },
): Promise<{ readonly engine: "postgresql" | "mariadb" | "mysql"; readonly databases: readonly string[] }> {
  if (engine === "mariadb") {
    const { listMariadbDatabases } = await import("./mariadb/source/list-databases.ts");
    return listMariadbDatabases({ connection, slug: called }, context);
  }
  const { listPostgresqlDatabases } = await import("./postgresql/source/list-databases.ts");
  return { engine, databases: await listPostgresqlDatabases({ connection, called }, context.signal) };
}

/**
 * Looks at the source itself for damage, if its configuration asks for that; null if not.
 * @throws RunError `interrupted`
 */
export async function checkSource(source: SourceConfig, context: RunContext): Promise<SourceCheck | null> {
  const { checkSource: check } = await loadEngine(source.engine);
  return check === undefined ? null : check(source as never, context);
}

/**
 * Returns the versions of the source's server and of the program that dumps it; null if there is no
 * server.
 * @throws RunError
 */
export async function clientVersions(
  source: SourceConfig,
  context: RunContext,
): Promise<ClientVersions | null> {
  const { versions } = await loadEngine(source.engine);
  return versions === undefined ? null : versions(source as never, context);
}

/** What a backup may lack, because the server hid it from the backup's user. For people. */
export async function hiddenFromBackup(
  source: SourceConfig,
  metadata: ForeignMetadata,
): Promise<readonly string[]> {
  const { hidden } = await loadEngine(source.engine);
  return hidden === undefined ? [] : hidden(metadata);
}

import { join } from "node:path";
import { openIsolatedPlace } from "../../../sandboxes/isolation/open-isolated-place.ts";
import { writeInPlace } from "../../../sandboxes/isolation/write-in-place.ts";
import { startPostgresIn } from "./scratch-postgres.ts";
import type { SandboxConfig, UriSandboxConfig } from "../../../config/sandbox-config.ts";
import type { SourceCommon, SourceConfig } from "../../../config/source-config.ts";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import type { ForeignMetadata, Runtime, Sandbox } from "../../engine.ts";
import type { RunContext } from "../../../sandboxes/run-context.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { atLeast, findInstallations, type Installation, missing } from "../connection/installations.ts";
import { findContainerServer } from "./container-sandbox.ts";
import { restoreInto } from "../restore-into.ts";
import { hasRoom, jobsFor, plaintextBytesOf } from "../restore/several-jobs.ts";
import { requireSingleDump, restoreIntoDatabase } from "../throw-away/restore.ts";
import { findUriServer } from "../throw-away/uri-server.ts";
import { majorOf } from "../connection/version.ts";

/**
 * Finds a scratch PostgreSQL for such a dump. As a process of this host it has the same major
 * version, or else the next newer one. In a container it has exactly that version.
 */
export async function findPostgresqlSandbox(
  metadata: ForeignMetadata,
  { sandbox }: Pick<SourceCommon, "sandbox">,
  sources?: readonly SourceConfig[],
): Promise<Sandbox> {
  const major = neededMajor(metadata);
  if (sandbox !== "process" && sandbox.kind === "uri")
    return findUriSandbox(sandbox, metadata, major, sources);
  const server = await findServer(sandbox, major);
  return {
    runtime: server.runtime,
    restore: async (content, context) => {
      const jobs = jobsFor(metadata, server.runtime);
      // A configured limit holds for the restored data, and leaves no room for the dump too.
      if (jobs === 1 || context.limits?.restoreDisk !== undefined)
        return restoreInto(await server.start(context), metadata, content, context);
      const bytes = plaintextBytesOf(metadata) ?? 0;
      context.confinement?.alsoHolds(bytes);
      const started = await server.start(context, { content, bytes });
      return restoreInto(started, metadata, content, { ...context, jobs });
    },
  };
}

interface FoundServer {
  readonly runtime: Runtime;
  /** Writes the dump next to the server meanwhile, if it can be there and has room. */
  start(context: RunContext, dump?: DumpToWrite): Promise<ScratchServer>;
}

interface DumpToWrite {
  readonly content: AsyncIterable<Buffer>;
  readonly bytes: number;
}

async function findServer(
  sandbox: Exclude<SandboxConfig, UriSandboxConfig>,
  major: number,
): Promise<FoundServer> {
  if (sandbox === "process") {
    const installation = await findInstallation(major);
    return {
      runtime: runtimeOf(installation),
      start: (context, dump) => startServer(installation, context, dump),
    };
  }
  const server = await findContainerServer(sandbox, major);
  return { runtime: server.runtime, start: ({ signal }) => server.start(signal) };
}

async function findUriSandbox(
  sandbox: UriSandboxConfig,
  metadata: ForeignMetadata,
  major: number,
  sources: readonly SourceConfig[] | undefined,
): Promise<Sandbox> {
  // Without the sources, nobody could tell whose database it is.
  if (sources === undefined) throw new Error("a throw-away database is only used when every source is known");
  requireSingleDump(metadata);
  const never = sources.flatMap((source) =>
    source.engine === "postgresql" ? [{ slug: source.slug, connection: source.connection }] : [],
  );
  const server = await findUriServer(sandbox, major, never);
  return {
    runtime: server.runtime,
    restore: async (content, { signal }) =>
      restoreIntoDatabase(await server.start(metadata, signal), server.database, content, signal),
  };
}

/** The oldest major version of PostgreSQL that accepts such a backup; 0 if any does. */
export function neededMajor(metadata: ForeignMetadata): number {
  return Math.max(majorOf(metadata["engine_version"]), majorOf(metadata["dump_version"]));
}

async function findInstallation(major: number): Promise<Installation> {
  const installations = await findInstallations(["postgres", "initdb", "pg_restore"]);
  const newest = installations.at(-1);
  if (newest === undefined) throw missing("a PostgreSQL server to restore into", "postgresql");
  const installation = atLeast(installations, major);
  if (installation !== null) return installation;
  throw new RunError(
    "tool_too_old",
    `the backup is of PostgreSQL ${major}, but the newest server here is ${newest.version}: install postgresql-${major}`,
  );
}

function runtimeOf({ version }: Installation): Runtime {
  return { kind: "process", engine: "postgresql", engine_version: version };
}

async function startServer(
  installation: Installation,
  context: RunContext,
  dump?: DumpToWrite,
): Promise<ScratchServer> {
  const { bin } = installation;
  const { signal } = context;
  const place = await openIsolatedPlace(context);
  const path = join(place.home, "dump");
  const isWritten = dump !== undefined && (await hasRoom(place, dump.bytes, signal));
  const server = await startPostgresIn(
    place,
    bin,
    signal,
    isWritten ? (within) => writeInPlace(place, path, untilAborted(dump.content, within), within) : undefined,
  );
  const { files, errors } = server;
  return {
    runtime: runtimeOf(installation),
    run: (name, request) => server.start({ ...request, command: join(bin, name) }),
    command: (command, request) => server.start({ ...request, command }),
    files,
    ...(isWritten ? { dump: path } : {}),
    errors,
    hasRunFull: () => server.hasRunFull(),
    hasDied: () => server.hasDied(),
    wasKilled: () => server.wasKilled(),
    close: () => server.close(),
  };
}

/** Nobody waits for the rest of a dump if the server could not be started. */
async function* untilAborted(
  content: AsyncIterable<Buffer>,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const piece of content) {
    stopIfAborted(signal);
    yield piece;
  }
}

import { startScratchPostgres } from "../../sandboxes/process/scratch-postgres.ts";
import type { SandboxConfig } from "../../sandboxes/sandbox-config.ts";
import type { SourceCommon } from "../../root/source-config.ts";
import { programsIn } from "../../processes/run-program.ts";
import { CouldNotRun } from "../../runs/could-not-run.ts";
import type { ForeignMetadata, RunContext, Runtime, Sandbox } from "../engine.ts";
import type { ScratchServer } from "../scratch-server.ts";
import { atLeast, findInstallations, type Installation, missing } from "./installations.ts";
import { findContainerServer } from "./container-sandbox.ts";
import { restoreInto } from "./restore-into.ts";
import { majorOf } from "./version.ts";

/**
 * A scratch PostgreSQL that takes such a dump: as a process of this host of the same major version if there is one, else the next
 * newer; in a container of exactly that version.
 */
export async function findPostgresqlSandbox(
  metadata: ForeignMetadata,
  { sandbox }: Pick<SourceCommon, "sandbox">,
): Promise<Sandbox> {
  const major = neededMajor(metadata);
  const server = await findServer(sandbox, major);
  return {
    runtime: server.runtime,
    restore: async (content, context) => restoreInto(await server.start(context), metadata, content, context),
  };
}

interface FoundServer {
  readonly runtime: Runtime;
  start(context: RunContext): Promise<ScratchServer>;
}

async function findServer(sandbox: SandboxConfig, major: number): Promise<FoundServer> {
  if (sandbox === "process") {
    const installation = await findInstallation(major);
    return { runtime: runtimeOf(installation), start: (context) => startServer(installation, context) };
  }
  if (sandbox.kind === "container") {
    const server = await findContainerServer(sandbox, major);
    return { runtime: server.runtime, start: ({ signal }) => server.start(signal) };
  }
  throw new CouldNotRun("sandbox_failed", "no such sandbox yet");
}

/** The oldest major version of PostgreSQL that takes such a backup; 0 if any does. */
export function neededMajor(metadata: ForeignMetadata): number {
  return Math.max(majorOf(metadata["engine_version"]), majorOf(metadata["dump_version"]));
}

async function findInstallation(major: number): Promise<Installation> {
  const installations = await findInstallations(["postgres", "initdb", "pg_restore"]);
  const newest = installations.at(-1);
  if (newest === undefined) throw missing("a PostgreSQL server to restore into", "postgresql");
  const installation = atLeast(installations, major);
  if (installation !== null) return installation;
  throw new CouldNotRun(
    "tool_too_old",
    `the backup is of PostgreSQL ${major}, the newest server here is ${newest.version}: install postgresql-${major}`,
  );
}

function runtimeOf({ version }: Installation): Runtime {
  return { kind: "process", engine: "postgresql", engine_version: version };
}

async function startServer(
  installation: Installation,
  { scratchDir, signal }: RunContext,
): Promise<ScratchServer> {
  const server = await startScratchPostgres(installation.bin, scratchDir, signal);
  const { files, errors } = server;
  return {
    runtime: runtimeOf(installation),
    run: programsIn(installation.bin, server.environment),
    command: (command, request) => server.start({ ...request, command }),
    files: { ours: files, theirs: files },
    errors,
    hasDied: () => server.hasDied(),
    close: () => server.close(),
  };
}

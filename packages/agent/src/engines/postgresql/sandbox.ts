import { join } from "node:path";
import { startChild } from "../../processes/child.ts";
import { feed } from "../../processes/feed.ts";
import { CouldNotRun, stopIfAborted } from "../../runs/could-not-run.ts";
import { type ScratchPostgres, startScratchPostgres } from "../../sandboxes/process/scratch-postgres.ts";
import type { ForeignMetadata, Restored, RunContext, Sandbox } from "../engine.ts";
import { atLeast, findInstallations, type Installation, missing } from "./installations.ts";
import { preparedDatabase } from "./prepare-database.ts";
import { refusalOf } from "./refusal.ts";
import { RestoredPostgresql } from "./restored.ts";

/** A scratch PostgreSQL that takes such a dump: of the same major version if there is one, else the next newer. */
export async function findPostgresqlSandbox(metadata: ForeignMetadata): Promise<Sandbox> {
  const installations = await findInstallations(["postgres", "initdb", "pg_restore"]);
  const newest = installations.at(-1);
  if (newest === undefined) throw missing("a PostgreSQL server to restore into", "postgresql");
  const major = Math.max(majorOf(metadata["engine_version"]), majorOf(metadata["dump_version"]));
  const installation = atLeast(installations, major);
  if (installation === null) {
    throw new CouldNotRun(
      "tool_too_old",
      `the backup is of PostgreSQL ${major}, the newest server here is ${newest.version}: install postgresql-${major}`,
    );
  }
  return {
    runtime: { kind: "process", engine: "postgresql", engine_version: installation.version },
    restore: (content, context) => restore(installation, metadata, content, context),
  };
}

function majorOf(version: unknown): number {
  return typeof version === "string" && /^[0-9]{1,3}(?:\.|$)/.test(version)
    ? Number.parseInt(version, 10)
    : 0;
}

async function restore(
  installation: Installation,
  metadata: ForeignMetadata,
  content: AsyncIterable<Buffer>,
  { scratchDir, signal }: RunContext,
): Promise<Restored> {
  const server = await startScratchPostgres(installation.bin, scratchDir, signal);
  try {
    const environment = await preparedDatabase(installation, server.environment, metadata, signal);
    await runPgRestore(installation, server, environment, content, signal);
    return new RestoredPostgresql(installation, server, environment);
  } catch (error) {
    await server.close();
    stopIfAborted(signal);
    throw error;
  }
}

async function runPgRestore(
  installation: Installation,
  server: ScratchPostgres,
  environment: Readonly<Record<string, string>>,
  content: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  const args = [
    `--dbname=${environment["PGDATABASE"]}`,
    "--exit-on-error",
    "--no-password",
    // The scratch server has neither the source's roles nor its tablespaces, and is nobody's publisher.
    "--no-owner",
    "--no-privileges",
    "--no-tablespaces",
    "--no-security-labels",
    "--no-publications",
    "--no-subscriptions",
  ];
  const errorsBefore = server.errors.length;
  const child = await startChild({
    command: join(installation.bin, "pg_restore"),
    args,
    env: environment,
    signal,
  });
  child.stdout.resume();
  try {
    await feed(child.stdin, content);
  } catch (error) {
    await child.stop();
    throw error;
  }
  const exit = await child.exited;
  stopIfAborted(signal);
  if (exit.code !== 0) throw refusalOf(exit, server, server.errors.slice(errorsBefore));
}

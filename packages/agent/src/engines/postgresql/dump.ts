import { join } from "node:path";
import { type Child, endedWith, startChild } from "../../processes/child.ts";
import { programsIn } from "../../processes/run-program.ts";
import { CouldNotRun, stopIfAborted } from "../../runs/could-not-run.ts";
import type { Dump, RunContext, SourceMetadata, SourceOf } from "../engine.ts";
import { resolveConnection } from "./connection.ts";
import { atLeast, findInstallations, type Installation, missing } from "./installations.ts";
import { PsqlSession, SessionEnded } from "./psql-session.ts";
import { connectionFailed, outputOf } from "./session-error.ts";
import { describeSnapshot, exportSnapshot } from "./snapshot.ts";
import type { PostgresqlSettings } from "./settings.ts";

/**
 * `pg_dump --format=custom`, uncompressed as zstd follows, of a snapshot that our own session holds: what the metadata
 * count is what the dump has.
 */
export async function dumpPostgresql(
  source: SourceOf<PostgresqlSettings>,
  { signal }: RunContext,
): Promise<Dump> {
  const environment = await resolveConnection(source.connection);
  const installations = await findInstallations(["pg_dump"]);
  const newest = installations.at(-1);
  if (newest === undefined) throw missing("pg_dump", "postgresql-client");
  const session = await PsqlSession.open(programsIn(newest.bin), environment, signal);
  let pgDump: Child | null = null;
  const close = async (): Promise<void> => {
    await pgDump?.stop();
    await session.close();
  };
  try {
    const version = await connect(session, source.slug);
    const tools = toolsFor(version, installations, newest);
    const snapshot = await exportSnapshot(session);
    const args = [
      "--format=custom",
      "--compress=0",
      "--no-password",
      "--lock-wait-timeout=300000",
      `--snapshot=${snapshot}`,
    ];
    const child = await startChild({ command: join(tools.bin, "pg_dump"), args, env: environment, signal });
    pgDump = child;
    child.stdin.end();
    let metadata: Promise<SourceMetadata> | null = null;
    const describe = (): Promise<SourceMetadata> => {
      metadata ??= describeSnapshot(session, version, tools.version);
      metadata.catch(() => undefined);
      return metadata;
    };
    return {
      content: contentOf(child, describe, signal),
      expectedBytes: null,
      metadata: () => orEnded(describe(), source.slug),
      close,
    };
  } catch (error) {
    await close();
    stopIfAborted(signal);
    throw error instanceof SessionEnded
      ? connectionFailed(`the source ${source.slug} cannot be reached`, error)
      : error;
  }
}

async function connect(session: PsqlSession, slug: string): Promise<string> {
  const answer = await session.run("show server_version");
  const version = /^[0-9]+(?:\.[0-9]+)?/.exec(outputOf(answer, "asking for the version").trim())?.[0];
  if (version === undefined)
    throw new CouldNotRun("connection_failed", `the source ${slug} tells no version that we know`);
  return version;
}

function toolsFor(
  version: string,
  installations: readonly Installation[],
  newest: Installation,
): Installation {
  const major = Number.parseInt(version, 10);
  const tools = atLeast(installations, major);
  if (tools !== null) return tools;
  throw new CouldNotRun(
    "tool_too_old",
    `the server is PostgreSQL ${version}, the newest pg_dump here is ${newest.version}, which refuses it: install postgresql-client-${major}`,
  );
}

async function* contentOf(
  child: Child,
  describe: () => Promise<SourceMetadata>,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const piece of child.stdout as AsyncIterable<Buffer>) {
    // With its first output pg_dump holds its locks: from here on the schema cannot change under the description.
    void describe();
    yield piece;
  }
  const exit = await child.exited;
  stopIfAborted(signal);
  if (exit.code !== 0 || exit.stderr.includes("error:")) {
    throw new CouldNotRun("dump_failed", `pg_dump ended with ${endedWith(exit)}${firstError(exit.stderr)}`);
  }
}

async function orEnded(metadata: Promise<SourceMetadata>, slug: string): Promise<SourceMetadata> {
  try {
    return await metadata;
  } catch (error) {
    throw error instanceof SessionEnded ? connectionFailed(`the connection to ${slug} broke`, error) : error;
  }
}

function firstError(stderr: string): string {
  const line = stderr.split("\n").find((each) => each.includes("error:"));
  return line === undefined ? "" : `: ${line.replace(/^pg_dump: error: /, "").slice(0, 300)}`;
}

import { startChild } from "../../../processes/child.ts";
import { programsIn, type RunProgram } from "../../../processes/run-program.ts";
import { RunError } from "../../../errors/run-error.ts";
import type { UriSandboxConfig } from "../../../config/sandbox-config.ts";
import type { ForeignMetadata, Runtime } from "../../engine.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { resolveConnection } from "../connection/connection.ts";
import { atLeast, findInstallations, missing } from "../connection/installations.ts";
import { PsqlSession, SessionEnded } from "../connection/psql-session.ts";
import { connectionFailed } from "../connection/session-error.ts";
import { majorOf } from "../connection/version.ts";
import { claimThrowAway } from "./claim.ts";
import { type DatabaseIdentity, identityOf, isSameAddress, isSameDatabase } from "./identity.ts";
import { preparation } from "./preparation.ts";
import type { SourceDatabase } from "./source-database.ts";
import { requireSameKind } from "./require-same-kind.ts";

const EMPTYING_MS = 600_000;

export interface UriServer {
  readonly runtime: Runtime;
  readonly database: string;
  /** Claims the database. From then on, and until it is closed, everything in it is ours. */
  start(metadata: ForeignMetadata, signal: AbortSignal): Promise<ScratchServer>;
}

/**
 * Looks at the throw-away database that the customer named, without changing it.
 * @throws RunError
 */
export async function findUriServer(
  { database: reference }: UriSandboxConfig,
  major: number,
  sources: readonly SourceDatabase[],
): Promise<UriServer> {
  const environment = await resolveConnection(reference);
  const database = environment["PGDATABASE"];
  const hosts = [environment["PGHOST"], environment["PGHOSTADDR"]];
  // A service's entry may name other hosts and another database, and libpq would use those.
  const isOne = environment["PGSERVICE"] === undefined && !hosts.some((host) => host?.includes(","));
  if (database === undefined || !isOne) {
    throw new RunError(
      "connection_reference",
      "sandbox.database must name one host and one database: postgresql://user:password@host/database",
    );
  }
  const installations = await findInstallations(["pg_restore"]);
  const [oldest] = installations;
  if (oldest === undefined) throw missing("psql and pg_restore", "postgresql-client");
  const signal = AbortSignal.timeout(60_000);
  const { version, identity } = await withSession(
    programsIn(oldest.bin, environment),
    signal,
    async (session) => ({
      version: preparation(await session.run("show server_version")).trim(),
      identity: await identityOf(session),
    }),
  );
  const has = majorOf(version);
  const tools = atLeast(installations, Math.max(has, major));
  if (has < major || tools === null) {
    throw new RunError(
      "tool_too_old",
      has < major
        ? `the backup is of PostgreSQL ${major}, but the server of sandbox.database is ${version}: use a server of at least that version`
        : `the server of sandbox.database is PostgreSQL ${version}: install postgresql-client-${Math.max(has, major)}`,
    );
  }
  const run = programsIn(tools.bin, environment);
  await refuseSources(run, { environment, identity }, sources, signal);
  const runtime: Runtime = {
    kind: "uri",
    engine: "postgresql",
    engine_version: /^[0-9.]+/.exec(version)?.[0] ?? version,
  };
  return {
    runtime,
    database,
    start: (metadata, aborted) => claim(run, environment, runtime, metadata, aborted),
  };
}

/**
 * Requires that it is not a source's own database, whichever way it is reached. For a source that
 * does not answer, only its address is compared. That is enough, because only an empty database is
 * ever claimed.
 */
async function refuseSources(
  run: RunProgram,
  target: {
    readonly environment: Readonly<Record<string, string>>;
    readonly identity: DatabaseIdentity | null;
  },
  sources: readonly SourceDatabase[],
  signal: AbortSignal,
): Promise<void> {
  const { identity } = target;
  if (identity === null)
    throw new RunError("sandbox_failed", "the server of sandbox.database does not report its identity");
  for (const { slug, connection } of sources) {
    const environment = await resolveConnection(connection).catch(() => null);
    if (environment === null) continue;
    const other = await withSession(
      (name, request) => run(name, { ...request, env: { ...unset(target.environment), ...environment } }),
      signal,
      identityOf,
    ).catch(() => null);
    if (
      isSameAddress(environment, target.environment) ||
      (other !== null && isSameDatabase(identity, other))
    ) {
      throw new RunError(
        "sandbox_failed",
        `sandbox.database is the database of the source ${slug}: a restore test would overwrite it. Use a separate one, made for this`,
      );
    }
  }
}

/** A separate environment, so that neither connection affects the other. */
function unset(environment: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(environment).map((name) => [name, ""]));
}

async function claim(
  run: RunProgram,
  environment: Readonly<Record<string, string>>,
  runtime: Runtime,
  metadata: ForeignMetadata,
  signal: AbortSignal,
): Promise<ScratchServer> {
  // Don't use the run's own signal: after an interruption the database must still be emptied under
  // the lock.
  const lasting = new AbortController();
  const holder = await PsqlSession.open(run, {}, lasting.signal);
  try {
    await requireSameKind(holder, runtime, metadata);
    const claimed = await claimThrowAway(holder);
    return {
      runtime,
      run,
      command: (command, request) =>
        startChild({ ...request, command, env: { ...environment, ...request.env } }),
      files: null,
      errors: [],
      hasRunFull: () => false,
      hasDied: () => false,
      close: async () => {
        try {
          await requireHeld(holder);
          await withSession(run, AbortSignal.timeout(EMPTYING_MS), (session) => claimed.release(session));
        } finally {
          await holder.close();
        }
      },
    };
  } catch (error) {
    await holder.close();
    if (signal.aborted) throw new RunError("interrupted", "interrupted");
    throw error instanceof SessionEnded
      ? connectionFailed("the throw-away database closed the connection", error)
      : error;
  }
}

/**
 * Without the lock, another test may have used the database in the meantime. Then nobody knows what
 * the checks saw, and its content is not ours to remove.
 * @throws RunError
 */
async function requireHeld(holder: PsqlSession): Promise<void> {
  const answer = await holder.run("select 1").catch(() => null);
  if (answer?.ok === true) return;
  throw new RunError(
    "sandbox_failed",
    "the connection that reserved the throw-away database was lost during the test, so its result can't be trusted. The next test empties the database",
  );
}

async function withSession<Result>(
  run: RunProgram,
  signal: AbortSignal,
  use: (session: PsqlSession) => Promise<Result>,
): Promise<Result> {
  const session = await PsqlSession.open(run, {}, signal);
  try {
    return await use(session);
  } catch (error) {
    throw error instanceof SessionEnded
      ? connectionFailed("the throw-away database cannot be reached", error)
      : error;
  } finally {
    await session.close();
  }
}

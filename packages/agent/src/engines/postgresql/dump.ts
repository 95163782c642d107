import { programsIn } from "../../processes/run-program.ts";
import { RunError, stopIfAborted } from "../../errors/run-error.ts";
import type { Dump, SourceOf } from "../engine.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import { resolveConnection } from "./connection/connection.ts";
import { DatabaseDump, serverVersion } from "./dump/database-dump.ts";
import { atLeast, findInstallations, type Installation, missing } from "./connection/installations.ts";
import { originOf } from "./dump/origin.ts";
import { PsqlSession, SessionEnded } from "./connection/psql-session.ts";
import { connectionFailed } from "./connection/session-error.ts";
import { dumpSet } from "./set/dump-set.ts";
import { requireFollowing } from "./dump/standby.ts";
import type { PostgresqlSettings } from "../../config/engines/postgresql.ts";

/**
 * Dumps one database as `pg_dump --format=custom`. Several databases, globals, and dumps with
 * several jobs become a set.
 */
export async function dumpPostgresql(
  source: SourceOf<PostgresqlSettings>,
  context: RunContext,
): Promise<Dump> {
  const { signal } = context;
  const environment = await resolveConnection(source.connection);
  const installations = await findInstallations(["pg_dump"]);
  const newest = installations.at(-1);
  if (newest === undefined) throw missing("pg_dump", "postgresql-client");
  const session = await PsqlSession.open(programsIn(newest.bin), environment, signal, { onlyReads: true });
  try {
    const version = await serverVersion(session);
    const origin = await originOf(session, environment);
    await requireFollowing(session);
    const tools = toolsFor(version, installations, newest);
    const database = {
      environment,
      tools,
      name: null,
      what: `the source ${source.slug}`,
      signal,
      contentKey: context.contentKey,
      definitionsKey: context.definitionsKey,
    };
    if (source.databases !== null || source.globals || source.jobs > 1)
      return { ...(await dumpSet({ source, database, session, version, context })), origin };
    const dump = await DatabaseDump.begin(database, session, version);
    return {
      origin,
      content: dump.content(),
      expectedBytes: null,
      metadata: () => dump.metadata(),
      close: () => dump.close(),
    };
  } catch (error) {
    await session.close();
    stopIfAborted(signal);
    throw error instanceof SessionEnded
      ? connectionFailed(`the source ${source.slug} cannot be reached`, error)
      : error;
  }
}

/**
 * Finds the programs of the server's own major version, or else of the next newer one.
 * @throws RunError `tool_too_old`
 */
export function toolsFor(
  version: string,
  installations: readonly Installation[],
  newest: Installation,
): Installation {
  const major = Number.parseInt(version, 10);
  const tools = atLeast(installations, major);
  if (tools !== null) return tools;
  throw new RunError(
    "tool_too_old",
    `the server is PostgreSQL ${version}, but the newest pg_dump here is ${newest.version} and refuses it: install postgresql-client-${major}`,
  );
}

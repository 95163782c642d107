import { programsIn } from "../../processes/run-program.ts";
import { stopIfAborted } from "../../errors/run-error.ts";
import type { ClientVersions, SourceOf } from "../engine.ts";
import { resolveConnection } from "./connection.ts";
import { serverVersion } from "./database-dump.ts";
import { toolsFor } from "./dump.ts";
import { findInstallations, missing } from "./installations.ts";
import { PsqlSession, SessionEnded } from "./psql-session.ts";
import { connectionFailed } from "./session-error.ts";
import type { PostgresqlSettings } from "../../config/engines/postgresql.ts";

/** The server's version, and that of the pg_dump that would dump it. @throws RunError */
export async function postgresqlVersions(
  source: SourceOf<PostgresqlSettings>,
  signal: AbortSignal,
): Promise<ClientVersions> {
  const environment = await resolveConnection(source.connection);
  const installations = await findInstallations(["pg_dump"]);
  const newest = installations.at(-1);
  if (newest === undefined) throw missing("pg_dump", "postgresql-client");
  const session = await PsqlSession.open(programsIn(newest.bin), environment, signal, { onlyReads: true });
  try {
    const version = await serverVersion(session);
    const { version: client } = toolsFor(version, installations, newest);
    return { server: `PostgreSQL ${version}`, client: `pg_dump ${client}` };
  } catch (error) {
    stopIfAborted(signal);
    throw error instanceof SessionEnded
      ? connectionFailed(`the source ${source.slug} cannot be reached`, error)
      : error;
  } finally {
    await session.close();
  }
}

import { programsIn } from "../../processes/run-program.ts";
import { stopIfAborted } from "../../errors/run-error.ts";
import type { ClientVersions, SourceOf } from "../engine.ts";
import { canRunAmcheck } from "./source/amcheck.ts";
import { resolveConnection } from "./connection/connection.ts";
import { serverVersion } from "./dump/database-dump.ts";
import { toolsFor } from "./dump.ts";
import { findInstallations, missing } from "./connection/installations.ts";
import { PsqlSession, SessionEnded } from "./connection/psql-session.ts";
import { connectionFailed } from "./connection/session-error.ts";
import type { PostgresqlSettings } from "../../config/engines/postgresql.ts";

/**
 * Without checksums, PostgreSQL returns a page that its disk has damaged as if nothing had
 * happened, as long as it still looks like a page.
 */
const NO_CHECKSUMS = {
  text: "the server has no data checksums: rows that its disk damages can be dumped without an error",
  next: "to switch them on, stop the server and run: pg_checksums --enable -D DATA_DIRECTORY",
};

const NO_AMCHECK = {
  text: "source_check finds no amcheck that its role may run",
  next: "in each database, as a superuser: create extension amcheck; grant execute on all functions in schema SCHEMA to ROLE (docs/engines.md)",
};

/**
 * Returns the versions of the server and of the pg_dump that would dump it.
 * @throws RunError
 */
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
    const versions = { server: `PostgreSQL ${version}`, client: `pg_dump ${client}` };
    if (source.sourceCheck !== undefined && !(await canRunAmcheck(session)))
      return { ...versions, warning: NO_AMCHECK };
    const checksums = await session.run("show data_checksums");
    return checksums.ok && checksums.output.trim() === "off"
      ? { ...versions, warning: NO_CHECKSUMS }
      : versions;
  } catch (error) {
    stopIfAborted(signal);
    throw error instanceof SessionEnded
      ? connectionFailed(`the source ${source.slug} cannot be reached`, error)
      : error;
  } finally {
    await session.close();
  }
}

import type { Engine } from "../engine.ts";
import { postgresqlVersions } from "./client-versions.ts";
import { dumpPostgresql } from "./dump.ts";
import { findPostgresqlSandbox } from "./sandbox.ts";
import type { PostgresqlSettings } from "../../config/engines/postgresql.ts";

export const postgresql: Engine<PostgresqlSettings> = {
  dump: dumpPostgresql,
  findSandbox: findPostgresqlSandbox,
  versions: (source, { signal }) => postgresqlVersions(source, signal),
};

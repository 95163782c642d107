import type { Engine } from "../engine.ts";
import { checkWithAmcheck } from "./amcheck.ts";
import { postgresqlVersions } from "./client-versions.ts";
import { dumpPostgresql } from "./dump.ts";
import { listPostgresqlColumns } from "./list-columns.ts";
import { proposePostgresql } from "./propose.ts";
import { findPostgresqlSandbox } from "./sandbox.ts";
import type { PostgresqlSettings } from "../../config/engines/postgresql.ts";

export const postgresql: Engine<PostgresqlSettings> = {
  dump: dumpPostgresql,
  findSandbox: findPostgresqlSandbox,
  checkSource: (source, { signal }) => checkWithAmcheck(source, signal),
  propose: (source, { signal }) => proposePostgresql(source, signal),
  columns: (source, { signal }) => listPostgresqlColumns(source, signal),
  versions: (source, { signal }) => postgresqlVersions(source, signal),
};

import type { Engine } from "../engine.ts";
import { checkWithAmcheck } from "./source/amcheck.ts";
import { postgresqlVersions } from "./client-versions.ts";
import { dumpPostgresql } from "./dump.ts";
import { listPostgresqlColumns } from "./source/list-columns.ts";
import { proposePostgresql } from "./source/propose.ts";
import { findPostgresqlSandbox } from "./sandbox/sandbox.ts";
import type { PostgresqlSettings } from "../../config/engines/postgresql.ts";

export const postgresql: Engine<PostgresqlSettings> = {
  dump: dumpPostgresql,
  findSandbox: findPostgresqlSandbox,
  checkSource: (source, { signal }) => checkWithAmcheck(source, signal),
  propose: (source, { signal }) => proposePostgresql(source, signal),
  columns: (source, { signal }) => listPostgresqlColumns(source, signal),
  versions: (source, { signal }) => postgresqlVersions(source, signal),
};

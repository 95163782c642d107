import type { PostgresqlSourceConfig } from "../../root/source-config.ts";
import type { Engine } from "../engine.ts";
import { dumpPostgresql } from "./dump.ts";
import { findPostgresqlSandbox } from "./sandbox.ts";

export const postgresql: Engine<PostgresqlSourceConfig> = {
  dump: dumpPostgresql,
  findSandbox: findPostgresqlSandbox,
};

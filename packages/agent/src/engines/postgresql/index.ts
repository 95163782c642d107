import type { Engine } from "../engine.ts";
import { dumpPostgresql } from "./dump.ts";
import { findPostgresqlSandbox } from "./sandbox.ts";
import type { PostgresqlSettings } from "./settings.ts";

export const postgresql: Engine<PostgresqlSettings> = {
  dump: dumpPostgresql,
  findSandbox: findPostgresqlSandbox,
};

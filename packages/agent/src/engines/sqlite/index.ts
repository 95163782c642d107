import type { Engine } from "../engine.ts";
import { dumpSqlite } from "./dump.ts";
import { proposeSqlite } from "./propose.ts";
import { findSqliteSandbox } from "./sandbox.ts";
import type { SqliteSettings } from "../../config/engines/sqlite.ts";

export const sqlite: Engine<SqliteSettings> = {
  dump: dumpSqlite,
  findSandbox: findSqliteSandbox,
  propose: (source, { signal }) => proposeSqlite(source, signal),
};

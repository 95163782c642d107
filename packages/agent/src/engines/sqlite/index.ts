import type { SqliteSourceConfig } from "../../root/source-config.ts";
import type { Engine } from "../engine.ts";
import { dumpSqlite } from "./dump.ts";
import { findSqliteSandbox } from "./sandbox.ts";

export const sqlite: Engine<SqliteSourceConfig> = { dump: dumpSqlite, findSandbox: findSqliteSandbox };

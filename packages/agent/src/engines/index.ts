import type { EngineName, SourceConfig } from "../root/source-config.ts";
import type { Dump, Engine, RunContext } from "./engine.ts";
import { files } from "./files/index.ts";
import { postgresql } from "./postgresql/index.ts";
import { sqlite } from "./sqlite/index.ts";

/** Starts the dump of a source with its engine. @throws CouldNotRun */
export function dumpSource(source: SourceConfig, context: RunContext): Promise<Dump> {
  switch (source.engine) {
    case "postgresql":
      return postgresql.dump(source, context);
    case "sqlite":
      return sqlite.dump(source, context);
    case "files":
      return files.dump(source, context);
  }
}

export const SANDBOXES: Readonly<Record<EngineName, Engine["findSandbox"]>> = {
  postgresql: postgresql.findSandbox,
  sqlite: sqlite.findSandbox,
  files: files.findSandbox,
};

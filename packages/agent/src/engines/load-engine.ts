import type { EngineName, SourceConfigOf } from "../config/source-config.ts";
import type { Engine } from "./engine.ts";

type Loaders = { readonly [Name in EngineName]: () => Promise<Engine<SourceConfigOf<Name>>> };

/** Only the engine that runs is read: each brings programs, formats and libraries of its own. */
const LOADERS: Loaders = {
  postgresql: async () => (await import("./postgresql/index.ts")).postgresql,
  mariadb: async () => (await import("./mariadb/index.ts")).mariadb,
  mysql: async () => (await import("./mariadb/index.ts")).mariadb,
  mongodb: async () => (await import("./mongodb/index.ts")).mongodb,
  sqlite: async () => (await import("./sqlite/index.ts")).sqlite,
  dumps: async () => (await import("./dumps/index.ts")).dumps,
  restic: async () => (await import("./restic/index.ts")).restic,
  files: async () => (await import("./files/index.ts")).files,
};

/** A source is only ever given to the engine that it names, which the compiler can't follow through the name. */
export function loadEngine(name: EngineName): Promise<Engine<never>> {
  return LOADERS[name]();
}

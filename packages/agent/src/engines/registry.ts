import { dumpsSettings } from "./dumps/settings.ts";
import type { Engine } from "./engine.ts";
import { filesSettings } from "./files/settings.ts";
import { mariadbSettings } from "./mariadb/settings.ts";
import { mongodbSettings } from "./mongodb/settings.ts";
import { postgresqlSettings } from "./postgresql/settings.ts";
import { resticSettings } from "./restic/settings.ts";
import type { EngineSettings } from "./settings.ts";
import { sqliteSettings } from "./sqlite/settings.ts";

/** An engine: its folder. The settings are read with every configuration, the rest only where it runs. */
export const ENGINES = {
  postgresql: registered(postgresqlSettings, async () => (await import("./postgresql/index.ts")).postgresql),
  mariadb: registered(mariadbSettings, async () => (await import("./mariadb/index.ts")).mariadb),
  mysql: registered(mariadbSettings, async () => (await import("./mariadb/index.ts")).mariadb),
  mongodb: registered(mongodbSettings, async () => (await import("./mongodb/index.ts")).mongodb),
  sqlite: registered(sqliteSettings, async () => (await import("./sqlite/index.ts")).sqlite),
  dumps: registered(dumpsSettings, async () => (await import("./dumps/index.ts")).dumps),
  restic: registered(resticSettings, async () => (await import("./restic/index.ts")).restic),
  files: registered(filesSettings, async () => (await import("./files/index.ts")).files),
};

function registered<Settings extends object>(
  settings: EngineSettings<Settings>,
  load: () => Promise<Engine<Settings>>,
): { readonly settings: EngineSettings<Settings>; readonly load: () => Promise<Engine<Settings>> } {
  return { settings, load };
}

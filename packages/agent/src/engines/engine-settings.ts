import { dumpsSettings } from "./dumps/settings.ts";
import { filesSettings } from "./files/settings.ts";
import { mariadbSettings } from "./mariadb/settings.ts";
import { mongodbSettings } from "./mongodb/settings.ts";
import { postgresqlSettings } from "./postgresql/settings.ts";
import { resticSettings } from "./restic/settings.ts";
import { sqliteSettings } from "./sqlite/settings.ts";

/** What a source of each engine has in config.yaml, by the engine's name there. */
export const ENGINE_SETTINGS = {
  postgresql: postgresqlSettings,
  mariadb: mariadbSettings,
  mysql: mariadbSettings,
  mongodb: mongodbSettings,
  sqlite: sqliteSettings,
  dumps: dumpsSettings,
  restic: resticSettings,
  files: filesSettings,
};

import { dumpsSettings } from "./dumps.ts";
import { filesSettings } from "./files.ts";
import { mariadbSettings } from "./mariadb.ts";
import { mongodbSettings } from "./mongodb.ts";
import { postgresqlSettings } from "./postgresql.ts";
import { resticSettings } from "./restic.ts";
import { sqliteSettings } from "./sqlite.ts";

/** The fields of each engine's sources in config.yaml, by the engine's name there. */
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

import type { EngineSettings } from "./settings.ts";

export interface SqliteSettings {
  /** Absolute. */
  readonly path: string;
}

export const sqliteSettings: EngineSettings<SqliteSettings> = {
  fields: ["path"],
  parse: (fields) => {
    const path = fields.path("path", "the path of the database file");
    return path === null ? null : { path };
  },
};

import type { EngineSettings } from "./settings.ts";

export interface FilesSettings {
  /** Absolute; a directory. */
  readonly path: string;
}

export const filesSettings: EngineSettings<FilesSettings> = {
  fields: ["path"],
  parse: (fields) => {
    const path = fields.path("path", "the path of a directory");
    return path === null ? null : { path };
  },
};

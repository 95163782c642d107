import type { ConnectionReference } from "../source-fields.ts";
import type { EngineSettings } from "./settings.ts";

export interface MariadbSettings {
  readonly connection: ConnectionReference;
  /** The databases that are backed up together; null for only the connection's own. */
  readonly databases: readonly string[] | "all" | null;
}

export const mariadbSettings: EngineSettings<MariadbSettings> = {
  fields: ["connection", "databases"],
  sandboxes: ["process", "container"],
  parse: (fields) => {
    const connection = fields.connection("connection", { schemes: ["mysql", "mariadb"], services: false });
    const databases =
      fields.has("databases") && fields.isText("databases", "all")
        ? "all"
        : fields.texts("databases", "names of databases, or all");
    return connection === null ? null : { connection, databases };
  },
};

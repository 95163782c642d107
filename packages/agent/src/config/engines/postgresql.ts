import type { ConnectionReference } from "../source-fields.ts";
import type { EngineSettings } from "./settings.ts";

export interface PostgresqlSettings {
  readonly connection: ConnectionReference;
  /**
   * The databases of the server that are backed up together; null for only the connection's own.
   */
  readonly databases: readonly string[] | "all" | null;
  /** Whether the backup includes the server's roles and tablespaces. */
  readonly globals: boolean;
  /**
   * Tables that are dumped, and restored, at once. More than one needs disk space for the plain
   * dump.
   */
  readonly jobs: number;
  /** Looks at the source itself before each backup; nothing if absent. */
  readonly sourceCheck?: "amcheck";
}

export const postgresqlSettings: EngineSettings<PostgresqlSettings> = {
  fields: ["connection", "databases", "globals", "jobs", "source_check"],
  sandboxes: ["process", "container", "uri"],
  parse: (fields) => {
    const connection = fields.connection("connection", {
      schemes: ["postgresql", "postgres"],
      services: true,
    });
    const databases =
      fields.has("databases") && fields.isText("databases", "all")
        ? "all"
        : fields.texts("databases", "names of databases, or all");
    const globals = fields.flag("globals", false);
    const jobs = fields.count("jobs", 1, { min: 1, max: 64, what: "a whole number" });
    const isChecked = fields.has("source_check");
    if (isChecked && !fields.isText("source_check", "amcheck"))
      fields.issue("source_check", "must be amcheck");
    if (connection === null) return null;
    return { connection, databases, globals, jobs, ...(isChecked ? { sourceCheck: "amcheck" } : {}) };
  },
};

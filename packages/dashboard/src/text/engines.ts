export const engines = {
  postgresql: "PostgreSQL",
  mariadb: "MariaDB",
  mysql: "MySQL",
  sqlite: "SQLite",
  files: "Files",
  mongodb: "MongoDB",
  dumps: "Dumps of other programs",
  restic: "restic repository",
};

const NAMES = new Map<string, string>(Object.entries(engines));

/** As people write it. An engine of a newer agent keeps the name that it has there. */
export function engineName(engine: string): string {
  return NAMES.get(engine) ?? engine;
}

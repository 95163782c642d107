import type { ClientConfig } from "pg";

/** node-postgres' settings for a connection. */
export type ConnectionSettings = Pick<
  ClientConfig,
  "host" | "port" | "user" | "database" | "connectionString"
>;

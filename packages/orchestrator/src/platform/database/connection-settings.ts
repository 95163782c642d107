import type { ClientConfig } from "pg";

/** What node-postgres needs to connect. */
export type ConnectionSettings = Pick<
  ClientConfig,
  "host" | "port" | "user" | "database" | "connectionString"
>;

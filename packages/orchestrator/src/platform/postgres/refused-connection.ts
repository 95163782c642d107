import { errorCode, errorMessage } from "@attestore/host/errno";
import { withClient } from "../database/client.ts";
import type { ConnectionSettings } from "../database/connection-settings.ts";
import { DatabaseUnavailable } from "../database/unavailable.ts";

const CHECK = { name: "start", statement_ms: 10_000 };

/** By SQLSTATE, what to do about a server that answers and does not let the service work. */
const NEXT: Readonly<Record<string, (variable: string) => string>> = {
  "28P01": (variable) => `Check the user and the password in ${variable}.`,
  "28000": () =>
    "Let this user connect from this host to this database: pg_hba.conf on its server, and LOGIN of the role.",
  "3D000": (variable) =>
    `Create the database (createdb, owned by the service's role), or correct its name in ${variable}.`,
  "53300": () =>
    "Raise max_connections of the server or CONNECTION LIMIT of the role, or see who holds the connections (pg_stat_activity).",
  "25006": (variable) =>
    `Name the server that accepts writes in ${variable}, or all of them: postgresql://USER@ONE,TWO/DATABASE.`,
};

/**
 * What PostgreSQL itself said, and what to do about it, each as a sentence with a space before it;
 * empty if it did not answer.
 */
export function refusalOf(error: unknown, variable: string): string {
  const next = NEXT[errorCode(error) ?? ""];
  return next === undefined ? "" : ` PostgreSQL says: ${errorMessage(error)}. ${next(variable)}`;
}

/** A standby answers all that is asked before the first write. */
export async function requireWritable(connection: ConnectionSettings): Promise<void> {
  await withClient(connection, CHECK, async (client) => {
    const { rows } = await client.query<{ standby: boolean; read_only: string }>(
      "select pg_is_in_recovery() as standby, current_setting('transaction_read_only') as read_only",
    );
    const [row] = rows;
    if (row?.standby !== true && row?.read_only !== "on") return;
    const message = row.standby ? "this server is a standby" : "sessions of this database are read-only";
    throw new DatabaseUnavailable(Object.assign(new Error(message), { code: "25006" }));
  });
}

import { heldRights } from "./held-rights.ts";
import { type Product, productOf } from "../connection/programs.ts";
import type { MariadbSession } from "../connection/session.ts";

const DATABASES = "unseen_database";
const TABLES = "unseen_table";
const TRIGGERS = "unseen_trigger";
const ROUTINES = "unseen_routine";
/** Any of these on the whole server shows all of its databases. */
const OF_DATABASES = ["SHOW DATABASES", "SELECT", "TRIGGER", "EVENT", "SHOW VIEW", "LOCK TABLES"];
const OF_ROUTINES = ["EXECUTE", "CREATE ROUTINE", "ALTER ROUTINE", "SHOW CREATE ROUTINE", "SHOW_ROUTINE"];

/**
 * Kinds of which a server may hide some from the backup's user. It hides them from the dump program
 * too, which then leaves them out without an error.
 * @throws SessionEnded
 */
export async function hiddenKinds(
  session: MariadbSession,
  databases: readonly string[],
  isWholeServer: boolean,
): Promise<readonly string[]> {
  const rights = await heldRights(session);
  const onAll = (...wanted: readonly string[]): boolean =>
    databases.every((database) => rights.onDatabase(database, ...wanted));
  // MariaDB shows every routine to whoever may read the table that holds them.
  const readsRoutines = rights.onDatabase("mysql", "SELECT") || rights.onTable("mysql", "proc", "SELECT");
  return [
    ...(isWholeServer && !rights.onServer(...OF_DATABASES) ? [DATABASES] : []),
    ...(onAll("SELECT") ? [] : [TABLES]),
    ...(onAll("TRIGGER") ? [] : [TRIGGERS]),
    ...(readsRoutines || onAll(...OF_ROUTINES) ? [] : [ROUTINES]),
  ];
}

/** Short: a receipt has little room for all of them. */
const MISSING: Readonly<Record<string, (product: Product) => string>> = {
  [DATABASES]: () => "databases hidden from the backup's user (grant SHOW DATABASES)",
  [TABLES]: () => "tables hidden from the backup's user (grant SELECT)",
  [TRIGGERS]: () => "triggers hidden from the backup's user (grant TRIGGER)",
  [ROUTINES]: (product) =>
    `routines hidden from the backup's user (grant ${product === "MySQL" ? "SHOW_ROUTINE" : "SELECT on mysql.proc"})`,
};

/** What a test says of such a kind; null for any other. `version`: of the backup's server. */
export function hiddenText(kind: string, version: unknown): string | null {
  return MISSING[kind]?.(productOf(typeof version === "string" ? version : "")) ?? null;
}

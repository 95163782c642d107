import { plural } from "@attestore/proof";
import { RunError } from "../../../errors/run-error.ts";
import { inList, type ListedTable, tableName } from "../schema.ts";
import type { MariadbSession } from "../connection/session.ts";
import { rowsOf } from "../connection/session-error.ts";

/**
 * mariadb-dump refuses a table whose earlier versions are known by transaction and not by time,
 * because the numbers of transactions belong to one server.
 * @throws RunError `dump_failed`, SessionEnded
 */
export async function refuseHistoryByTransaction(
  session: MariadbSession,
  databases: readonly string[],
  tables: readonly ListedTable[],
): Promise<void> {
  if (!tables.some(({ isVersioned }) => isVersioned)) return;
  const found = rowsOf(await session.run(byTransaction(databases)), "listing tables with history").map(
    ([database = "", table = ""]) => tableName(database, table),
  );
  if (found.length === 0) return;
  const more = found.length > 3 ? ` and ${plural(found.length - 3, "more table")}` : "";
  throw new RunError(
    "dump_failed",
    `${found.slice(0, 3).join(", ").slice(0, 200)}${more} ` +
      `${found.length === 1 ? "keeps" : "keep"} earlier versions of rows by transaction (ROW START of type BIGINT), which no dump program can dump. ` +
      "No backup was made. Keep them by time: docs/engines.md (History by transaction) has the statements that move a table with its history",
  );
}

const byTransaction = (databases: readonly string[]): string =>
  `select distinct table_schema, table_name from information_schema.columns
   where ${inList("table_schema", databases)} and generation_expression = 'ROW START' and data_type = 'bigint'
   order by table_schema, table_name`;

import { inList } from "../schema.ts";
import type { MariadbSession } from "../connection/session.ts";
import { rowsOf } from "../connection/session-error.ts";

/** How many objects of each kind there are. A primary key is an index here. */
export async function countKinds(
  session: MariadbSession,
  databases: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const counts = rowsOf(await session.run(listing(databases)), "counting the objects");
  return new Map(counts.map(([kind = "", count = "0"]) => [kind, Number(count)]));
}

function listing(databases: readonly string[]): string {
  const count = (kind: string, table: string, column: string, more = ""): string =>
    `select ${kind} as kind, count(*) from information_schema.${table} where ${inList(column, databases)}${more}`;
  return [
    count("'index'", "statistics", "table_schema", " and seq_in_index = 1"),
    count("'foreign key'", "referential_constraints", "constraint_schema"),
    count("'check'", "check_constraints", "constraint_schema"),
    count("'trigger'", "triggers", "trigger_schema"),
    count("'view'", "views", "table_schema"),
    // The server removes an event that runs once as soon as it has run.
    count("'event'", "events", "event_schema", " and event_type = 'RECURRING'"),
    count("lower(routine_type)", "routines", "routine_schema", " group by 1"),
  ].join(" union all ");
}

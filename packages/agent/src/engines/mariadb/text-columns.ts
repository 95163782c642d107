import { plural } from "@attestore/proof";
import { RunError } from "../../errors/run-error.ts";
import { COUNTING_S } from "../row-counts.ts";
import { limited } from "./limited.ts";
import { allRowsOf, tableName, textColumns } from "./schema.ts";
import { type MariadbSession, quoted } from "./session.ts";
import { rowsOf } from "./session-error.ts";

/** Columns by name, for example `shop.t.title`. */
export interface LossyTexts {
  /** Columns with a character that utf8mb4 lacks. */
  readonly lossy: readonly string[];
  /** Columns that there was no time for, or whose query failed. */
  readonly notExamined: readonly string[];
}

const CHARACTER_SET = /^[a-z0-9_]{1,32}$/;

/**
 * A dump has all texts as utf8mb4, and a question mark for each character that utf8mb4 lacks, such
 * as those that a company added to Shift JIS, or bytes that mean nothing in an `ascii` column. So
 * each text is converted there and back, and compared byte by byte. Each table is read once.
 */
export async function lossyTexts(
  session: MariadbSession,
  databases: readonly string[],
  version: string,
  budget_s = COUNTING_S,
): Promise<LossyTexts> {
  const lossy: string[] = [];
  const notExamined: string[] = [];
  const deadline = performance.now() + budget_s * 1000;
  const columns = rowsOf(
    await session.run(textColumns(databases)),
    "listing the columns whose texts a dump may change",
  );
  for (const [place, own] of Map.groupBy(columns, ([database, table]) => JSON.stringify([database, table]))) {
    const [database, table] = JSON.parse(place) as [string, string];
    const changes = own.map(([, , column = "", set = "", isVersioned]) => {
      const text = quoted(column);
      const back = `convert(convert(${text} using utf8mb4) using ${set})`;
      return {
        name: `${tableName(database, table)}.${column}`,
        isVersioned: isVersioned === "1",
        sql: CHARACTER_SET.test(set)
          ? `coalesce(max(not (cast(${back} as binary) <=> cast(${text} as binary))), 0)`
          : "null",
      };
    });
    const from = allRowsOf(
      database,
      table,
      changes.some(({ isVersioned }) => isVersioned),
    );
    const left_s = (deadline - performance.now()) / 1000;
    const select = `select ${changes.map(({ sql }) => sql).join(", ")} from ${from}`;
    const examined = left_s <= 0 ? null : await session.runForeign(limited(version, select, left_s / 2));
    const [found = []] = examined?.ok === true ? examined.rows : [];
    for (const [at, { name }] of changes.entries()) {
      if (found[at] === "1") lossy.push(name);
      else if (found[at] !== "0") notExamined.push(name);
    }
  }
  return { lossy, notExamined };
}

/** @throws RunError `dump_failed` if the dump would contain other texts than the source. */
export function refuseLossy({ lossy }: LossyTexts): void {
  if (lossy.length === 0) return;
  const others = lossy.length > 5 ? `and ${plural(lossy.length - 5, "more column")} have` : "has";
  throw new RunError(
    "dump_failed",
    `${lossy.slice(0, 5).join(", ").slice(0, 300)} ${others} a character that utf8mb4 lacks, and a dump would contain ? in its place. ` +
      "No backup was kept. Replace such characters, or make the column VARBINARY or BLOB, which is dumped byte by byte",
  );
}

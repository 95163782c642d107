import { plural } from "@attestore/proof";
import { RunError } from "../../../errors/run-error.ts";
import { COUNTING_S } from "../../row-counts.ts";
import { examineColumns, type ExaminedColumns } from "./examine-columns.ts";
import { textColumns } from "../schema.ts";
import type { MariadbSession } from "../connection/session.ts";
import { rowsOf } from "../connection/session-error.ts";

const CHARACTER_SET = /^[a-z0-9_]{1,32}$/;

/**
 * The columns with a character that utf8mb4 lacks. A dump has all texts as utf8mb4, and a question
 * mark for each such character: one that a company added to Shift JIS, or a byte that means nothing
 * in an `ascii` column. So each text is converted there and back, and compared byte by byte.
 */
export async function lossyTexts(
  session: MariadbSession,
  databases: readonly string[],
  version: string,
  budget_s = COUNTING_S,
): Promise<ExaminedColumns> {
  const columns = rowsOf(
    await session.run(textColumns(databases)),
    "listing the columns whose texts a dump may change",
  ).map(([database = "", table = "", column = "", set = "", isVersioned]) => ({
    database,
    table,
    column,
    isVersioned: isVersioned === "1",
    isChanged: CHARACTER_SET.test(set) ? (value: string) => isLossy(value, set) : null,
  }));
  return examineColumns(session, columns, version, budget_s);
}

function isLossy(value: string, set: string): string {
  const back = `convert(convert(${value} using utf8mb4) using ${set})`;
  return `not (cast(${back} as binary) <=> cast(${value} as binary))`;
}

/** @throws RunError `dump_failed` if the dump would contain other texts than the source. */
export function refuseLossy({ changed }: ExaminedColumns): void {
  if (changed.length === 0) return;
  const others = changed.length > 5 ? `and ${plural(changed.length - 5, "more column")} have` : "has";
  throw new RunError(
    "dump_failed",
    `${changed.slice(0, 5).join(", ").slice(0, 300)} ${others} a character that utf8mb4 lacks, and a dump would contain ? in its place. ` +
      "No backup was kept. Replace such characters, or make the column VARBINARY or BLOB, which is dumped byte by byte",
  );
}

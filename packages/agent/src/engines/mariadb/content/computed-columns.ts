import { rowsOf } from "../connection/session-error.ts";
import { generatedColumns, tableName, timestampColumns } from "../schema.ts";
import { type MariadbSession, quoted } from "../connection/session.ts";

/** Their results depend on no server, no time and no session setting. */
const STEADY: ReadonlySet<string> = new Set(
  (
    "abs and as between bit_length cast ceiling char char_length charset coalesce collate concat concat_ws crc32 decimal distinct else end " +
    "elt false field find_in_set floor greatest hex if ifnull in integer interval is json_compact json_contains json_exists json_extract " +
    "json_length json_query json_type json_unquote json_valid json_value lcase least left length locate lower lpad ltrim md5 mod not null " +
    "nullif octet_length or repeat replace reverse right rpad rtrim sha sha1 sha2 sign signed substr substring then trim true truncate ucase " +
    "unhex unsigned upper when case xor year month dayofmonth hour minute second to_days date div " +
    "_utf8mb4 _utf8mb3 _latin1 _binary utf8mb4 utf8mb3 latin1 binary"
  ).split(" "),
);
/** Quoted names and texts. Nothing in them is called. */
const QUOTED = /`(?:[^`]|``)*`|'(?:[^'\\]|''|\\.)*'/gs;

/**
 * Tables with a generated column whose values another server may compute differently. A restore
 * computes them again, whatever the dump says.
 */
export async function tablesComputed(
  session: MariadbSession,
  databases: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = rowsOf(await session.run(generatedColumns(databases)), "listing the generated columns");
  if (rows.length === 0) return new Set();
  const times = rowsOf(await session.run(timestampColumns(databases)), "listing the columns of times");
  const ofTable = Map.groupBy(times, ([database = "", table = ""]) => tableName(database, table));
  return new Set(
    rows.flatMap(([database = "", table = "", expression = "", isStored]) => {
      const name = tableName(database, table);
      const isZoned = (ofTable.get(name) ?? []).some(([, , column = ""]) => readsTime(expression, column));
      return isSteady(expression) && !(isStored === "1" && isZoned) ? [] : [name];
    }),
  );
}

/**
 * Whether an expression reads a TIMESTAMP, and not only whether it is NULL. The session's time zone
 * decides what it reads: a stored value was computed in that of whoever wrote the row, and a
 * restore computes it in UTC.
 */
function readsTime(expression: string, column: string): boolean {
  const name = quoted(column);
  return expression
    .split(name)
    .slice(1)
    .some((after) => !/^ is (?:not )?null\b/i.test(after));
}

/**
 * Whether an expression has the same result everywhere. A division does not, because a session
 * setting decides how precise it is.
 */
export function isSteady(expression: string): boolean {
  const code = expression.replaceAll(QUOTED, " ");
  const words = code.match(/[^\s\d()+\-*,.<>=!%&|^~?:][^\s()+\-*,.<>=!%&|^~?:]*/g) ?? [];
  return words.every((word) => STEADY.has(word.toLowerCase()));
}

import type { BrokenConstraint, CheckedConstraints } from "../../../checks/index.ts";
import { limited } from "../connection/limited.ts";
import { outcomeOf } from "./run-query.ts";
import { inList, tableName } from "../schema.ts";
import { type MariadbSession, quoted } from "../connection/session.ts";
import { rowsOf } from "../connection/session-error.ts";

export interface ForeignKeysRequest {
  readonly databases: readonly string[];
  readonly version: string;
  readonly budget_ms: number;
}

interface ForeignKey {
  readonly name: string;
  readonly table: string;
  readonly referenced: string;
  /** Pairs of referring and referenced columns. */
  readonly columns: (readonly [own: string, referenced: string])[];
}

/**
 * Counts the rows that refer to none, those of the smallest tables first. One query takes at most
 * half of the time that is left. Null if there are no foreign keys.
 * @throws RunError, SessionEnded
 */
export async function checkForeignKeys(
  reader: MariadbSession,
  { databases, version, budget_ms }: ForeignKeysRequest,
): Promise<CheckedConstraints | null> {
  const deadline = performance.now() + budget_ms;
  const keys = await foreignKeys(reader, databases);
  if (keys.length === 0) return null;
  const broken: BrokenConstraint[] = [];
  const notChecked: string[] = [];
  for (const key of keys) {
    const half_s = (deadline - performance.now()) / 2000;
    const counted =
      half_s <= 0 ? null : outcomeOf(await reader.runForeign(limited(version, query(key), half_s)), half_s);
    const rows = counted?.kind === "rows" ? BigInt(counted.rows[0] ?? "0") : null;
    if (rows === null) notChecked.push(key.name);
    else if (rows > 0n) broken.push({ name: key.name, rows, why: "not_enforced" });
  }
  return { foreignKeys: keys.length - notChecked.length, checks: null, broken, notChecked };
}

async function foreignKeys(
  session: MariadbSession,
  databases: readonly string[],
): Promise<readonly ForeignKey[]> {
  const listed = rowsOf(
    await session.run(`select k.table_schema, k.table_name, k.constraint_name, k.column_name, k.referenced_table_schema, k.referenced_table_name, k.referenced_column_name
      from information_schema.key_column_usage k
        join information_schema.tables t on t.table_schema = k.table_schema and t.table_name = k.table_name
        left join information_schema.tables r on r.table_schema = k.referenced_table_schema and r.table_name = k.referenced_table_name
      where ${inList("k.table_schema", databases)} and k.referenced_table_name is not null
      order by coalesce(t.data_length, 0) + coalesce(r.data_length, 0), 1, 2, 3, k.ordinal_position`),
    "listing the foreign keys",
  );
  const keys = new Map<string, ForeignKey>();
  for (const [
    of = "",
    table = "",
    constraint = "",
    column = "",
    toOf = "",
    to = "",
    referenced = "",
  ] of listed) {
    const name = `${tableName(of, table)}.${constraint}`;
    const key = keys.get(name) ?? {
      name,
      table: `${quoted(of)}.${quoted(table)}`,
      referenced: `${quoted(toOf)}.${quoted(to)}`,
      columns: [],
    };
    key.columns.push([quoted(column), quoted(referenced)]);
    keys.set(name, key);
  }
  return [...keys.values()];
}

/** A row with NULL in any of these columns refers to nothing. */
function query({ table, referenced, columns }: ForeignKey): string {
  const refers = columns.map(([own]) => `fk.${own} is not null`);
  const found = columns.map(([own, other]) => `pk.${other} = fk.${own}`);
  return `select count(*) from ${table} fk where ${refers.join(" and ")} and not exists (select 1 from ${referenced} pk where ${found.join(" and ")})`;
}

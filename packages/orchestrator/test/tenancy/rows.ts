/** What the database holds, as far as calls may not change it. */
import type { Pool } from "pg";

/** Who called, and how often: rows of every call, also of refused ones. */
const TOLD_OF_CALLS = new Set(["api_logs", "rate_limits"]);

/** A hash of every table's rows; with `about`, only of those that name one of these ids. */
export async function hashRows(
  pool: Pool,
  about: readonly string[] | null = null,
): Promise<Map<string, string>> {
  const isAbout = about === null ? "true" : `${LINE} like any($1::bytea[])`;
  return perTable(
    pool,
    // A session's last use is written down at most once a minute, by whatever call comes then.
    (table) => `select '${table}' as name, (select md5(string_agg(line, '\n' order by line)) from (
      select (to_jsonb(t) - 'last_used_at')::text as line from "${table}" as t) as lines where ${isAbout}) as found`,
    about === null ? [] : [about],
  );
}

/** Rows that name both an id of the one and an id of the other list, each as `table: row`. */
export async function rowsThatMix(
  pool: Pool,
  one: readonly string[],
  other: readonly string[],
): Promise<string[]> {
  const found = await perTable(
    pool,
    (table) => `select '${table}' as name, (select string_agg('${table}: ' || line, '\n') from (
      select to_jsonb(t)::text as line from "${table}" as t) as lines
      where ${LINE} like any($1::bytea[]) and ${LINE} like any($2::bytea[])) as found`,
    [one, other],
  );
  return [...found.values()].filter((rows) => rows !== "");
}

const LINE = "convert_to(line, 'UTF8')";

/**
 * What was found in a table in a state is not looked for again: it is most of the work of a walk in
 * which hardly anything changes.
 */
const known = new WeakMap<Pool, Map<string, { state: string; found: string }>>();

/** @param ask the query about one table: its name, and what was found as text or null */
async function perTable(
  pool: Pool,
  ask: (table: string) => string,
  ids: readonly (readonly string[])[],
): Promise<Map<string, string>> {
  const states = await statesOf(pool);
  const before = known.get(pool) ?? new Map<string, { state: string; found: string }>();
  known.set(pool, before);
  const question = (table: string): string => `${ask(table)} ${JSON.stringify(ids)}`;
  const changed = [...states].filter(([table, state]) => before.get(question(table))?.state !== state);
  if (changed.length > 0) {
    const { rows } = await pool.query<{ name: string; found: string | null }>(
      changed.map(([table]) => ask(table)).join(" union all "),
      ids.map((each) => patterns(each)),
    );
    for (const { name, found } of rows)
      before.set(question(name), { state: states.get(name) ?? "", found: found ?? "" });
  }
  return new Map([...states.keys()].map((table) => [table, before.get(question(table))?.found ?? ""]));
}

/** A row that was added, changed or removed has another place, or is of another transaction. */
async function statesOf(pool: Pool): Promise<Map<string, string>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    "select relname as name from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace order by relname",
  );
  const { rows } = await pool.query<{ name: string; state: string | null }>(
    tables
      .filter(({ name }) => !TOLD_OF_CALLS.has(name))
      .map(
        ({ name }) =>
          `select '${name}' as name, (select md5(string_agg(ctid::text || xmin::text, ' ' order by ctid)) from "${name}") as state`,
      )
      .join(" union all "),
  );
  return new Map(rows.map(({ name, state }) => [name, state ?? ""]));
}

/** Of bytes, which are searched four times as fast as characters. */
function patterns(ids: readonly string[]): Buffer[] {
  return ids.map((id) => Buffer.from(`%${id}%`));
}

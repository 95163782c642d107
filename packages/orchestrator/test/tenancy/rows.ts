/** What the database holds, as far as calls may not change it. */
import type { Pool } from "pg";

/** Who called, and how often: rows of every call, also of refused ones. */
const TOLD_OF_CALLS = new Set(["api_logs", "rate_limits"]);

/** A hash of every table's rows; with `about`, only of those that name one of these ids. */
export async function hashRows(
  pool: Pool,
  about: readonly string[] | null = null,
): Promise<Map<string, string>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    "select relname as name from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace order by relname",
  );
  const kept = tables.filter(({ name }) => !TOLD_OF_CALLS.has(name));
  const { rows } = await pool.query<{ name: string; hash: string | null }>(
    kept
      .map(
        // A session's last use is written down at most once a minute, by whatever call comes then.
        ({ name }) => `select '${name}' as name, (select md5(string_agg(line, '\n' order by line)) from (
          select (to_jsonb(t) - 'last_used_at')::text as line from "${name}" as t) as lines
          where ${about === null ? "true" : "convert_to(line, 'UTF8') like any($1::bytea[])"}) as hash`,
      )
      .join(" union all "),
    about === null ? [] : [patterns(about)],
  );
  return new Map(rows.map(({ name, hash }) => [name, hash ?? ""]));
}

/** Rows that name both an id of the one and an id of the other list, each as `table: row`. */
export async function rowsThatMix(
  pool: Pool,
  one: readonly string[],
  other: readonly string[],
): Promise<string[]> {
  const { rows: tables } = await pool.query<{ name: string }>(
    "select relname as name from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace order by relname",
  );
  const { rows } = await pool.query<{ found: string }>(
    tables
      .filter(({ name }) => !TOLD_OF_CALLS.has(name))
      .map(
        ({
          name,
        }) => `select '${name}: ' || line as found from (select to_jsonb(t)::text as line from "${name}" as t) as lines
          where convert_to(line, 'UTF8') like any($1::bytea[]) and convert_to(line, 'UTF8') like any($2::bytea[])`,
      )
      .join(" union all "),
    [patterns(one), patterns(other)],
  );
  return rows.map(({ found }) => found);
}

/** Of bytes, which are searched four times as fast as characters. */
function patterns(ids: readonly string[]): Buffer[] {
  return ids.map((id) => Buffer.from(`%${id}%`));
}

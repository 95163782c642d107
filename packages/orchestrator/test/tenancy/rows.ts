/** What the database holds, as far as calls may not change it. */
import { createHash } from "node:crypto";
import type { Pool } from "pg";

/** Who called, and how often: rows of every call, also of refused ones. */
const TOLD_OF_CALLS = new Set(["api_logs", "rate_limits"]);

/**
 * A hash of every table's rows; with `about`, only of those that name one of these ids. A session's
 * last use does not count: it is written down at most once a minute, by whatever call comes then.
 */
export async function hashRows(
  pool: Pool,
  about: readonly string[] | null = null,
): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  for (const [name, table] of await readTables(pool))
    hashes.set(
      name,
      table.answer(`hash ${JSON.stringify(about)}`, (rows) => {
        const hash = createHash("sha256");
        const lines = rows.filter((row) => about === null || row.names(about)).map(({ line }) => line);
        for (const line of lines.toSorted()) hash.update(`${line}\n`);
        return hash.digest("hex");
      }),
    );
  return hashes;
}

/** Rows that name both an id of the one and an id of the other list, each as `table: row`. */
export async function rowsThatMix(
  pool: Pool,
  one: readonly string[],
  other: readonly string[],
): Promise<string[]> {
  return [...(await readTables(pool))].flatMap(([name, { rows }]) =>
    [...rows.values()]
      .filter((row) => row.names(one) && row.names(other))
      .map(({ whole }) => `${name}: ${whole}`),
  );
}

/** A row as it is until it is changed: then it has another place, or is of another transaction. */
class Row {
  /** As JSON. */
  readonly whole: string;
  /** The same without what does not count. */
  readonly line: string;
  readonly #named = new Map<readonly string[], boolean>();

  constructor(whole: string, line: string) {
    this.whole = whole;
    this.line = line;
  }

  /** Whether one of these ids is in it. */
  names(ids: readonly string[]): boolean {
    const known = this.#named.get(ids) ?? ids.some((id) => this.whole.includes(id));
    this.#named.set(ids, known);
    return known;
  }
}

class Table {
  state = "";
  rows = new Map<string, Row>();
  #answers = new Map<string, string>();

  replace(state: string, rows: Map<string, Row>): void {
    this.state = state;
    this.rows = rows;
    this.#answers.clear();
  }

  /** Results of earlier look-ups of these very rows. */
  answer(question: string, find: (rows: Row[]) => string): string {
    const found = this.#answers.get(question) ?? find([...this.rows.values()]);
    this.#answers.set(question, found);
    return found;
  }
}

/**
 * What was read of a row is not read again: it is most of the work of a walk in which hardly
 * anything changes.
 */
const known = new WeakMap<Pool, Map<string, Table>>();

async function readTables(pool: Pool): Promise<Map<string, Table>> {
  let tables = known.get(pool);
  if (tables === undefined) known.set(pool, (tables = await namesOfTables(pool)));
  for (const [name, { places, state }] of await changedTables(pool, tables)) {
    const table = tables.get(name);
    if (table === undefined) throw new Error(`nobody asked for the table ${name}`);
    const fresh = places.filter((place) => !table.rows.has(place));
    const { rows } = await pool.query<{ place: string; whole: string; line: string }>(
      `select ctid::text || ' ' || xmin::text as place, to_jsonb(t)::text as whole,
        (to_jsonb(t) - 'last_used_at')::text as line
      from "${name}" as t where ctid = any ($1::tid[])`,
      [fresh.map((place) => place.split(" ")[0])],
    );
    const read = new Map(rows.map(({ place, whole, line }) => [place, new Row(whole, line)]));
    const now = new Map<string, Row>();
    for (const place of places) {
      const row = table.rows.get(place) ?? read.get(place);
      // Changed between the two queries: once more.
      if (row === undefined) return readTables(pool);
      now.set(place, row);
    }
    table.replace(state, now);
  }
  return tables;
}

async function namesOfTables(pool: Pool): Promise<Map<string, Table>> {
  const { rows } = await pool.query<{ name: string }>(
    "select relname as name from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace order by relname",
  );
  return new Map(rows.filter(({ name }) => !TOLD_OF_CALLS.has(name)).map(({ name }) => [name, new Table()]));
}

/** Where the rows of each table are that is not in the state that is known. */
async function changedTables(
  pool: Pool,
  tables: Map<string, Table>,
): Promise<Map<string, { state: string; places: string[] }>> {
  const places = (name: string): string =>
    `(select string_agg(ctid::text || ' ' || xmin::text, '|' order by ctid) from "${name}")`;
  const { rows: states } = await pool.query<{ name: string; state: string | null }>({
    // Planned once.
    name: "states-of-tables",
    text: [...tables.keys()]
      .map((name) => `select '${name}' as name, md5(${places(name)}) as state`)
      .join(" union all "),
  });
  const changed = states.filter(({ name, state }) => tables.get(name)?.state !== (state ?? "none"));
  if (changed.length === 0) return new Map();
  const { rows } = await pool.query<{ name: string; places: string | null }>(
    changed.map(({ name }) => `select '${name}' as name, ${places(name)} as places`).join(" union all "),
  );
  return new Map(
    rows.map(({ name, places }) => [
      name,
      { state: md5(places), places: places === null ? [] : places.split("|") },
    ]),
  );
}

/** As PostgreSQL has it, and of a table without a row. */
function md5(text: string | null): string {
  return text === null ? "none" : createHash("md5").update(text).digest("hex");
}

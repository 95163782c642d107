import {
  FURTHEST_ZONE_H,
  MAX_REFERENCES,
  MAX_TIME_COLUMNS,
  OBSERVED_DAYS,
  proposeFromSource,
  type Proposals,
  type QueryOutcome,
  type Reference,
  type TimeColumn,
  ZONES_S,
} from "../../checks/index.ts";
import type { SqliteSettings } from "../../config/engines/sqlite.ts";
import type { SourceOf } from "../engine.ts";
import { cells } from "./protocol.ts";
import { SqliteProcess } from "./sqlite-process.ts";
import { quotedName } from "../quoted-name.ts";
import { unopenedWal } from "./unopened-wal.ts";

/** How long the source may be read. Without WAL, writers wait for a reader. */
const BUDGET_MS = 20_000;
const STATEMENT_MS = 2_000;
const YEAR_S = 31_536_000;

/** Tables with rows of their own, and their columns that may hold times. */
const COLUMNS = `
  select t.name, c.name from pragma_table_list t join pragma_table_info(t.name) c
  where t.schema = 'main' and t.type = 'table' and t.name not like 'sqlite~_%' escape '~'
    and (c.type like '%date%' or c.type like '%time%' or ((c.type like '%int%' or c.type like '%text%' or c.type like '%char%' or c.type = '')
      and (c.name like '%~_at' escape '~' or c.name like '%time%' or c.name like '%date%' or c.name like '%created%' or c.name = 'ts')))
  order by t.name, c.cid`;

const REFERENCES = `
  select distinct t.name, f."table" from pragma_table_list t join pragma_foreign_key_list(t.name) f
    join pragma_table_info(t.name) c on c.name = f."from" collate nocase
  where t.schema = 'main' and t.type = 'table' and f."table" <> t.name collate nocase and c."notnull" = 1
  limit ${MAX_REFERENCES}`;

/** How a column holds times: text, or seconds or milliseconds since 1970. */
interface Form {
  /** The time in seconds since 1970, in SQL. */
  seconds(column: string): string;
  newest(column: string): string;
  older(column: string): string;
  readonly slack_s: number;
}

const ISO = "'%Y-%m-%dT%H:%M:%SZ'";
const SECONDS: Form = {
  seconds: (column) => column,
  newest: (column) => `max(${column})`,
  older: (column) => `${column} - ${YEAR_S}`,
  slack_s: 0,
};
const MILLISECONDS: Form = {
  seconds: (column) => `${column} / 1000`,
  newest: (column) => `max(${column}) / 1000`,
  older: (column) => `${column} - ${YEAR_S}000`,
  slack_s: 0,
};
const TEXT_WITH_ZONE: Form = {
  seconds: (column) => `cast(strftime('%s', ${column}) as integer)`,
  newest: (column) => `strftime(${ISO}, max(${column}))`,
  older: (column) => `strftime(${ISO}, ${column}, '-1 year')`,
  slack_s: 0,
};
const TEXT: Form = {
  ...TEXT_WITH_ZONE,
  newest: (column) => `strftime(${ISO}, max(${column}), '-${FURTHEST_ZONE_H} hours')`,
  older: (column) => `strftime('%Y-%m-%d %H:%M:%S', ${column}, '-1 year')`,
  slack_s: ZONES_S,
};

/** By the newest value; null if that is not a time. */
function formOf(type: string, value: string): Form | null {
  if (type === "text") {
    const zone = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/.exec(value);
    return zone === null ? null : zone[1] === undefined ? TEXT : TEXT_WITH_ZONE;
  }
  const number = Number(value);
  if (number >= 1e9 && number < 4e9) return SECONDS;
  return number >= 1e12 && number < 4e12 ? MILLISECONDS : null;
}

/**
 * Looks at the source, read-only and for a short time, and proposes checks.
 * @throws RunError
 */
export async function proposeSqlite(
  source: SourceOf<SqliteSettings>,
  signal: AbortSignal,
): Promise<Proposals> {
  const unopened = await unopenedWal(source.path).catch(() => null);
  const path = unopened?.uri ?? source.path;
  const sqlite = new SqliteProcess(signal);
  const deadline = performance.now() + BUDGET_MS;
  const seconds = (): number => Math.min(STATEMENT_MS, deadline - performance.now()) / 1000;
  const list = async (sql: string): Promise<string[][]> => {
    if (seconds() <= 0) return [];
    const listed = await sqlite.request({ op: "list", path, sql }, seconds());
    return listed?.ok === true ? cells(listed) : [];
  };
  const ask = async (sql: string): Promise<QueryOutcome> => {
    const asked = seconds() <= 0 ? null : await sqlite.request({ op: "query", path, sql }, seconds());
    if (asked === null) return { kind: "timeout", after_s: STATEMENT_MS / 1000 };
    return asked.ok ? { kind: "rows", rows: asked.rows ?? [] } : { kind: "error", message: asked.message };
  };
  const forms = new Map<TimeColumn, Form>();
  try {
    return await proposeFromSource({ times, observe, references, count, ask });
  } finally {
    await sqlite.close();
  }

  async function times(): Promise<readonly TimeColumn[]> {
    const found: { readonly rows: number; readonly column: TimeColumn }[] = [];
    for (const [tableName = "", columnName = ""] of await list(COLUMNS)) {
      if (found.length === MAX_TIME_COLUMNS) break;
      const [table, column] = [quotedName(tableName), quotedName(columnName)];
      const [[type = "", value = "", rows = "0"] = []] = await list(
        `select typeof(max(${column})), max(${column}), count(*) from ${table}`,
      );
      const form = formOf(type, value);
      if (form === null) continue;
      const time: TimeColumn = {
        tableName,
        table,
        column,
        slack_s: form.slack_s,
        newest: (from) => `select ${form.newest(column)} as newest from ${from}`,
        none: `(select * from ${table} where 1 = 0) gone`,
        nulls: `(select null as ${column} from ${table}) gone`,
        older: `(select ${form.older(column)} as ${column} from ${table}) gone`,
      };
      forms.set(time, form);
      found.push({ rows: Number(rows), column: time });
    }
    return found.toSorted((a, b) => b.rows - a.rows).map(({ column }) => column);
  }

  async function observe(time: TimeColumn): Promise<readonly string[] | undefined> {
    const { table, column, slack_s } = time;
    const at = forms.get(time)?.seconds(column) ?? column;
    const [row] = await list(`
      with newest as (select max(${at}) as at_s from ${table}),
        hours as (select distinct (${at}) / 3600 as hour from ${table} where ${at} > (select at_s from newest) - ${OBSERVED_DAYS * 86_400}),
        gaps as (select hour, hour - lag(hour) over (order by hour) as gap from hours)
      select strftime('%s', 'now') - (select at_s from newest) + ${slack_s === 0 ? 0 : FURTHEST_ZONE_H * 3600}, count(*), (max(hour) - min(hour)) * 3600, max(gap) * 3600 from gaps`);
    return row;
  }

  async function references(): Promise<readonly Reference[]> {
    return (await list(REFERENCES)).map(([child = "", parent = ""]) => ({
      child: { table: quotedName(child), name: child },
      parent: { table: quotedName(parent), name: parent },
    }));
  }

  async function count(tables: readonly string[]): Promise<readonly string[] | undefined> {
    const [counts] = await list(
      `select ${tables.map((table) => `(select count(*) from ${table})`).join(", ")}`,
    );
    return counts;
  }
}

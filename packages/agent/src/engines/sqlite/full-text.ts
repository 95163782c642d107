import { type Ask, cells, lackIn } from "./protocol.ts";
import { quotedName } from "../quoted-name.ts";

const VIRTUAL = `select name, sql, not exists (select 1 from sqlite_schema c where c.name = t.name || '_content')
  from sqlite_schema t where type = 'table' and rootpage = 0 and sql is not null order by name`;
/** FTS3's and FTS4's option for a content that the application keeps, or nobody. */
const CONTENT_ELSEWHERE = /\busing\s+["'[`]?fts[34]\b.*?[(,]\s*content\s*=/is;
const OF_INDEX =
  /^(?:malformed inverted index|unable to validate the inverted index) for FTS[34] table main\.(.*?)(?:: SQL logic error)?$/s;

/**
 * A tokenizer of an application's own that a full-text table needs and SQLite here lacks. FTS5
 * tells only who searches; its integrity check fails without a reason.
 */
export async function missingTokenizer(ask: Ask, table: string): Promise<string | null> {
  const name = quotedName(table);
  return lackIn(await ask(`select 1 from ${name} where ${name} match 'x' limit 1`));
}

/** The first of them in the whole database. */
export async function anyMissingTokenizer(ask: Ask): Promise<string | null> {
  const listed = await ask(VIRTUAL);
  for (const [table = ""] of listed?.ok === true ? cells(listed) : []) {
    const lack = await missingTokenizer(ask, table);
    if (lack !== null) return lack;
  }
  return null;
}

/**
 * The tables of FTS3 and FTS4 without a content of their own. SQLite's integrity check fails on
 * those without any content, and on others if an application has changed the content since: neither
 * is damage.
 */
export async function contentElsewhere(ask: Ask): Promise<ReadonlySet<string>> {
  const listed = await ask(VIRTUAL);
  const tables = listed?.ok === true ? cells(listed) : [];
  return new Set(
    tables.flatMap(([name = "", sql = "", hasNone = ""]) =>
      hasNone === "1" && CONTENT_ELSEWHERE.test(sql) ? [name] : [],
    ),
  );
}

/** The table whose index a message of integrity_check says not to fit its content. */
export function tableOfIndex(message: string): string | null {
  return OF_INDEX.exec(message)?.[1] ?? null;
}

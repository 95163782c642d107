import type { CheckOutcome } from "@attestore/proof";
import { sqliteIntegrityCheck } from "../../checks/index.ts";
import { RunError } from "../../errors/run-error.ts";
import { anyMissingTokenizer, contentElsewhere, missingTokenizer, tableOfIndex } from "./full-text.ts";
import { type Ask, cells, lackIn, type Response } from "./protocol.ts";
import { quotedName } from "../quoted-name.ts";

export interface Integrity {
  readonly check: CheckOutcome;
  /** Tables of which SQLite here can read no row. */
  readonly unreadable: ReadonlySet<string>;
}

/** Includes SQLite's own tables, virtual tables, and the tables in which those keep their data. */
const EVERYTHING =
  "select name, type from pragma_table_list where schema = 'main' and type <> 'view' order by name";

/**
 * Runs SQLite's integrity check on the whole database. If that needs an application's own collation
 * or function, it checks as much of each table as possible: everything; or everything but the
 * entries of its indexes; or only that each row can be read to its end. What was not checked is
 * named.
 * @throws RunError `sandbox_lacks` if it can check nothing.
 */
export async function checkIntegrity(ask: Ask, tables: readonly string[]): Promise<Integrity> {
  const started = performance.now();
  const whole = await ask("pragma integrity_check");
  let lack = lackIn(whole) ?? (whole?.ok === true ? null : await anyMissingTokenizer(ask));
  const isWhole = lack === null;
  const notChecked: string[] = [];
  const unreadable = new Set<string>();
  const elsewhere = await contentElsewhere(ask);
  const damageIn = (response: Response | null): string[] =>
    messagesOf(response).filter((message) => {
      const table = tableOfIndex(message);
      if (table === null || !elsewhere.has(table)) return true;
      notChecked.push(`indexes of ${table} (its content is elsewhere)`);
      return false;
    });
  const messages = isWhole ? damageIn(whole) : [];
  const listed = await ask(EVERYTHING);
  if (listed?.ok !== true) messages.push(...messagesOf(listed));
  for (const [table = "", type = ""] of listed?.ok === true ? cells(listed) : []) {
    // SQLite says nothing about a virtual table whose module is missing here.
    if (isWhole && type !== "virtual") continue;
    const looked = type === "virtual" ? await lookAtVirtual(ask, table) : await lookAt(ask, table);
    if (!isWhole) messages.push(...damageIn(looked.response));
    if (looked.lack !== null)
      notChecked.push(`${looked.isRead ? "indexes of " : ""}${table} (${looked.lack})`);
    if (!looked.isRead) unreadable.add(table);
    lack ??= looked.lack;
  }
  if (tables.length > 0 && tables.every((table) => unreadable.has(table)))
    throw new RunError(
      "sandbox_lacks",
      `SQLite here lacks what the application adds to it (${lack}), and can read no table of the restored copy without it`,
    );
  const wrong = messages.filter((message) => message !== "ok");
  const check = sqliteIntegrityCheck({
    // For the whole database there are as many messages as SQLite printed; for a single table each
    // message says ok.
    messages: isWhole && messages.length > 0 ? messages : wrong.length > 0 ? wrong : ["ok"],
    notChecked,
    duration_ms: performance.now() - started,
  });
  return { check, unreadable };
}

interface Looked {
  /** Of integrity_check, or of what was asked in its place. */
  readonly response: Response | null;
  /** What was missing for checking all of it. */
  readonly lack: string | null;
  readonly isRead: boolean;
}

const NOTHING_WRONG: Response = { ok: true, rows: ['["ok"]'] };

/** The tables in which it keeps its data are checked like others. */
async function lookAtVirtual(ask: Ask, table: string): Promise<Looked> {
  const lack = lackIn(await ask(`select 1 from ${quotedName(table)} limit 1`));
  if (lack !== null) return { response: NOTHING_WRONG, lack, isRead: false };
  const tokenizer = await missingTokenizer(ask, table);
  if (tokenizer !== null) return { response: NOTHING_WRONG, lack: tokenizer, isRead: true };
  return lookAt(ask, table);
}

async function lookAt(ask: Ask, table: string): Promise<Looked> {
  const name = quotedName(table);
  const all = await ask(`pragma integrity_check(${name})`);
  const lack = lackIn(all);
  if (lack === null) return { response: all, lack, isRead: true };
  const quick = await ask(`pragma quick_check(${name})`);
  if (lackIn(quick) === null) return { response: quick, lack, isRead: true };
  const rows = await ask(`select count(*) from ${name} not indexed`);
  if (lackIn(rows) !== null) return { response: NOTHING_WRONG, lack, isRead: false };
  const read = await ask(await readingAll(ask, table));
  return { response: read?.ok === true ? NOTHING_WRONG : read, lack, isRead: true };
}

/**
 * Reads each stored column to its end. It joins the columns, because that compares nothing by a
 * collation.
 */
async function readingAll(ask: Ask, table: string): Promise<string> {
  const text = table.replaceAll("'", "''");
  const listed = await ask(`select name from pragma_table_xinfo('${text}') where hidden in (0, 3)`);
  const columns = listed?.ok === true ? cells(listed).map(([name = ""]) => quotedName(name)) : [];
  const read = columns.map((column) => `sum(length(${column} || ''))`);
  return `select ${["count(*)", ...read].join(", ")} from ${quotedName(table)} not indexed`;
}

function messagesOf(response: Response | null): string[] {
  return response?.ok === true
    ? cells(response).map(([message = ""]) => withoutNames(message))
    : ["not a readable database"];
}

/** The message of integrity_check about a damaged row may quote the row. */
function withoutNames(message: string): string {
  return message.replaceAll(/(["']).*?\1/g, "…").slice(0, 200);
}

import { clip } from "../clip.ts";

const MAX_REASON = 300;
const QUOTE = /["«»“”„]|(?<!\p{L})'/u;

/**
 * Why a query failed, in a form for receipts: one bounded line without secrets, paths or values of
 * the data. Databases quote values in their messages (`invalid input syntax for type integer:
 * "…"`), so a message ends at its first quote. The exception are messages about names in the query
 * (SQLSTATE class 42, but not syntax errors, which quote the query). Functions in the database can
 * raise any text themselves (P0001), so that is left out.
 */
export function queryErrorReason(message: string, sqlstate?: string): string {
  const state = sqlstate !== undefined && /^[0-9A-Z]{5}$/.test(sqlstate) ? ` (SQLSTATE ${sqlstate})` : "";
  if (sqlstate === "P0001") return `the query failed: the database's own code raised an exception${state}`;
  const [line = ""] = message
    .toWellFormed()
    .trim()
    .split(/[\r\n]/, 1);
  const plain = line
    .slice(0, 4 * MAX_REASON)
    .toWellFormed()
    .replace(/\p{Cc}+/gu, " ")
    .trim()
    .replace(/^(?:psql:\S*\s*)?(?:ERROR|FATAL):\s*/, "")
    .replace(/[a-z][a-z0-9+.-]{0,20}:\/\/\S+/gi, "…")
    .replace(/(?<=^|[\s(=])\/[^\s,;:)]+/g, "…");
  const isAboutNames = sqlstate?.startsWith("42") === true && sqlstate !== "42601";
  const discreet = isAboutNames ? plain : endAtQuote(plain);
  return `the query failed: ${discreet === "" ? "no message" : clip(discreet, MAX_REASON)}${state}`;
}

function endAtQuote(text: string): string {
  const at = text.search(QUOTE);
  return at < 0 ? text : `${text.slice(0, at)}…`;
}

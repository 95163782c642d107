/** What an engine saw when it ran a check's query on the restored data. */
export type QueryOutcome =
  /** Each row as the text of a JSON object (`parseRow`). The engine may stop after the second: two are too many already. */
  | { readonly kind: "rows"; readonly rows: readonly string[] }
  /** `sqlstate` tells which messages may quote the data. */
  | { readonly kind: "error"; readonly message: string; readonly sqlstate?: string }
  | { readonly kind: "timeout"; readonly after_s: number };

const MAX_REASON = 300;

/**
 * Why the query failed, fit for a receipt: one line, bounded, without secrets and without values of the data. A database
 * quotes values in its messages (`invalid input syntax for type integer: "…"`), except where it complains about the query
 * itself (SQLSTATE class 42), and says whatever it likes where its own functions raise (P0001).
 */
export function queryErrorReason(message: string, sqlstate?: string): string {
  if (sqlstate === "P0001") return "the query failed: the database's own code raised an exception";
  const [line = ""] = message
    .toWellFormed()
    .trim()
    .split(/[\r\n]/, 1);
  const plain = line
    .slice(0, 4 * MAX_REASON)
    .replace(/\p{Cc}+/gu, " ")
    .replace(/[a-z][a-z0-9+.-]{0,20}:\/\/\S+/gi, "…")
    .replace(/^(?:psql:\S*\s*)?(?:ERROR|FATAL):\s*/, "");
  const discreet = sqlstate?.startsWith("42") === true ? plain : plain.replace(/"[^"]*"?|'[^']*'?/g, "…");
  return clip(`the query failed: ${discreet === "" ? "no message" : discreet}`);
}

function clip(text: string): string {
  return text.length <= MAX_REASON ? text : `${text.slice(0, MAX_REASON).toWellFormed()}…`;
}

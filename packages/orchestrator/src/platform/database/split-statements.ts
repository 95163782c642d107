/**
 * A token of SQL: a comment, a text, a name in quotes, a text between `$tag$`, a function's body in
 * SQL, or what is between those. A comment within a comment, a text with backslashes and a body
 * with an `end` within it are not known here.
 */
const TOKEN =
  /--[^\n]*|\/\*[^]*?\*\/|'[^']*'|"[^"]*"|(?<tag>\$(?:[a-z_]\w*)?\$)[^]*?\k<tag>|\bbegin\s+atomic\b[^]*?\bend\b|\w+|[^]/gi;
const COMMENT = /^(?:--|\/\*)/;

/**
 * The statements of a migration, without comments. Each is sent by itself: Citus hands the whole
 * text that a statement came with to its workers, which refuse more than one or do all of them.
 */
export function splitStatements(sql: string): string[] {
  const statements = [""];
  for (const [token] of sql.matchAll(TOKEN)) {
    if (token === ";") statements.push("");
    else if (!COMMENT.test(token)) statements.push(`${statements.pop() ?? ""}${token}`);
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== "");
}

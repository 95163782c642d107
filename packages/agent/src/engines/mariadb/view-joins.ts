/** Quoted names and texts, parentheses, and the word that makes a list of tables a join. */
const TOKEN = /`(?:[^`]|``)*`|'(?:[^'\\]|''|\\.)*'|"(?:[^"\\]|""|\\.)*"|[()]| join /gs;
const QUERY = /^\s*(?:select|with|values|\()/i;

/**
 * A view's text without the parentheses around joins. Servers leave them out of a join with a
 * comma (`from t, u`), and put them in when a restore makes the view again from its own text. The
 * order of joins and every other parenthesis stay. SHOW CREATE VIEW, by which views are compared as
 * objects, always has them.
 */
export function withoutJoinParentheses(text: string): string {
  const open: { readonly at: number; isJoin: boolean }[] = [];
  const left = new Set<number>();
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const innermost = open.at(-1);
    if (token === "(") open.push({ at: index, isJoin: false });
    else if (token === " join " && innermost !== undefined) innermost.isJoin = true;
    else if (token === ")") {
      const closed = open.pop();
      if (closed?.isJoin !== true || isQuery(text, closed.at)) continue;
      left.add(closed.at);
      left.add(index);
    }
  }
  return [...partsBetween(text, left)].join("");
}

/** Whether parentheses hold a query, whose own joins are no reason for them. */
function isQuery(text: string, at: number): boolean {
  const inside = text.slice(at + 1, at + 20);
  return QUERY.test(inside) && !inside.startsWith("(");
}

function* partsBetween(text: string, left: ReadonlySet<number>): Generator<string, void, undefined> {
  let from = 0;
  for (const at of [...left].toSorted((a, b) => a - b)) {
    yield text.slice(from, at);
    from = at + 1;
  }
  yield text.slice(from);
}

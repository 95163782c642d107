/**
 * Whether a name or pattern means this table. `*` matches any text. Without a dot it is also
 * compared with the last part of the name, so `sessions` means `public.sessions`.
 */
export function meansTable(pattern: string, table: string): boolean {
  if (pattern === table) return true;
  const names = pattern.includes(".") ? [table] : [table, table.slice(table.lastIndexOf(".") + 1)];
  return names.some((name) => matches(pattern.split("*"), name));
}

export function isPattern(text: string): boolean {
  return text.includes("*");
}

/** In linear time: no regular expression, which somebody could make expensive. */
function matches([first = "", ...rest]: readonly string[], name: string): boolean {
  if (rest.length === 0) return name === first;
  if (!name.startsWith(first)) return false;
  const last = rest.pop() ?? "";
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

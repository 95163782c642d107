/** A name in SQL, as the standard, PostgreSQL and SQLite quote one. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The name that a dump or a server printed, in quotes where it needs them. */
export function unquotedName(printed: string): string {
  return printed.startsWith('"') ? printed.slice(1, -1).replaceAll('""', '"') : printed;
}

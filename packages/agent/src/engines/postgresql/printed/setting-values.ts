/**
 * A setting's value in the catalogue as pg_dump and pg_dumpall write it: a JSON array of one text,
 * or of one text for each value of some lists.
 */
export function settingValues(name: string, value: string): string {
  return JSON.stringify(QUOTED_LISTS.has(name.toLowerCase()) ? listIn(value) : [value]);
}

/** Settings of which each value is one text. */
const QUOTED_LISTS: ReadonlySet<string> = new Set([
  "local_preload_libraries",
  "search_path",
  "session_preload_libraries",
  "shared_preload_libraries",
  "temp_tablespaces",
  "unix_socket_directories",
]);

/** Splits such a list: `a, "B c"`. */
function listIn(value: string): string[] {
  return [...value.matchAll(/"((?:[^"]|"")*)"|([^\s,"][^\s,]*)/g)].map(
    ([, quoted, plain = ""]) => quoted?.replaceAll('""', '"') ?? plain,
  );
}

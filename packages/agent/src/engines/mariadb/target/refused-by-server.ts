/**
 * What an administrator sets on a server that refuses what the source's took. A scratch server
 * takes all of it.
 */
const SETTINGS: Readonly<Record<string, readonly [why: string, statement: string]>> = {
  packet: ["a row is larger than the server takes", "set global max_allowed_packet = 1073741824;"],
  rows: ["the source's innodb_strict_mode was off", "set global innodb_strict_mode = off;"],
  keys: [
    "the server refuses tables without a primary key, and the source's did not",
    "set global sql_require_primary_key = off;",
  ],
  parents: [
    "a foreign key refers to columns that are not unique, and the source's restrict_fk_on_non_standard_key was off",
    "set global restrict_fk_on_non_standard_key = off;",
  ],
  functions: [
    "with a binary log, the server takes such functions only from those it trusts",
    "set global log_bin_trust_function_creators = 1;",
  ],
};
/** MariaDB closes the connection at a row that is too large, and MySQL says so. */
const WHICH: Readonly<Record<string, keyof typeof SETTINGS>> = {
  1118: "rows",
  1153: "packet",
  1418: "functions",
  1419: "functions",
  2006: "packet",
  2013: "packet",
  3750: "keys",
  6125: "parents",
};

/** The client's last error, without the statement, which may quote rows, and what helps. */
export function refusedByServer(stderr: string): string {
  const errors = stderr.trim();
  const said = errors.slice(Math.max(0, errors.lastIndexOf("\nERROR "))).trim();
  const setting = SETTINGS[WHICH[/^ERROR (\d+) /.exec(said)?.[1] ?? ""] ?? ""];
  if (setting === undefined) return said;
  const [why, statement] = setting;
  return `${said}\nMost likely ${why}. As an administrator of the server, run this, then try again: ${statement}`;
}

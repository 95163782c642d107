import { LOADING_ROLE } from "../database/loading-role.ts";

const NAME = `("(?:[^"\\0]|"")+"|[a-z_][a-z0-9_$]*)`;
/**
 * pg_dumpall writes a text with a backslash as E'…'. In some encodings a backslash may be a part of
 * another character, so such a text must be ASCII.
 */
const TEXT = `(?:'(?:[^'\\\\\\0]|'')*'|E'(?:[^'\\\\\\0\\x80-\\xff]|''|\\\\\\\\)*')`;
const SETTING = `(?:"[A-Za-z0-9_.]+"|[a-z_][a-z0-9_]*)`;
const ATTRIBUTE =
  "(?:NO)?(?:SUPERUSER|INHERIT|CREATEROLE|CREATEDB|LOGIN|REPLICATION|BYPASSRLS)|CONNECTION LIMIT -?[0-9]+";

/** The statements as pg_dumpall writes them. The names of the roles come first. */
const TAKEN: readonly RegExp[] = [
  `CREATE ROLE ${NAME}`,
  `ALTER ROLE ${NAME} WITH(?: (?:${ATTRIBUTE}|PASSWORD ${TEXT}|VALID UNTIL ${TEXT}))+`,
  `ALTER ROLE ${NAME}(?: IN DATABASE ${NAME})? SET ${SETTING} TO ${TEXT}(?:, ${TEXT})*`,
  `COMMENT ON ROLE ${NAME} IS ${TEXT}`,
  `GRANT ${NAME} TO ${NAME}(?: WITH (?:ADMIN|INHERIT|SET) (?:OPTION|TRUE|FALSE)(?:, (?:ADMIN|INHERIT|SET) (?:OPTION|TRUE|FALSE))*)?(?: GRANTED BY ${NAME})?`,
].map((pattern) => new RegExp(`${pattern};\\n`, "y"));

/** Roles that must not change: the scratch server's own, and the one that loads. */
const OURS = new Set(["attestore", LOADING_ROLE, "public"]);
const GRANT = /^GRANT /;

/**
 * Selects the statements of a server's globals that may run as the scratch server's superuser:
 * those that create roles, and what belongs to them, as pg_dumpall writes them. It selects nothing
 * else, and nothing that gives rights to one of our roles.
 */
export function* globalStatements(text: string): Generator<string, void, undefined> {
  for (let at = 0; at < text.length;) {
    const match = TAKEN.map((pattern) => {
      pattern.lastIndex = at;
      return pattern.exec(text);
    }).find((found) => found !== null);
    if (match === undefined) {
      const end = text.indexOf("\n", at);
      if (end === -1) return;
      at = end + 1;
      continue;
    }
    const [statement, first = "", second = ""] = match;
    at += statement.length;
    if (!OURS.has(plain(GRANT.test(statement) ? second : first))) yield statement.slice(0, -2);
  }
}

/** The same without the grantor; null for a statement that names none. */
export function withoutGrantor(statement: string): string | null {
  if (!GRANT.test(statement)) return null;
  const without = statement.replace(GRANTED_BY, "");
  return without === statement ? null : without;
}

const GRANTED_BY = new RegExp(` GRANTED BY ${NAME}$`);

function plain(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;
}

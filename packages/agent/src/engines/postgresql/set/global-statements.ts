import { LOADING_ROLE } from "../loading-role.ts";

const NAME = `("(?:[^"\\\\\\0]|"")+"|[a-z_][a-z0-9_$]*)`;
const TEXT = `'(?:[^'\\\\\\0]|'')*'`;
const ATTRIBUTE =
  "(?:NO)?(?:SUPERUSER|INHERIT|CREATEROLE|CREATEDB|LOGIN|REPLICATION|BYPASSRLS)|CONNECTION LIMIT -?[0-9]+";

/** As pg_dumpall writes them; the names of the roles that a statement is about come first. */
const TAKEN: readonly RegExp[] = [
  `CREATE ROLE ${NAME}`,
  `ALTER ROLE ${NAME} WITH(?: (?:${ATTRIBUTE}|PASSWORD ${TEXT}|VALID UNTIL ${TEXT}))+`,
  `ALTER ROLE ${NAME}(?: IN DATABASE ${NAME})? SET (?:"[a-z_.]+"|[a-z_.]+) TO ${TEXT}(?:, ${TEXT})*`,
  `COMMENT ON ROLE ${NAME} IS ${TEXT}`,
  `GRANT ${NAME} TO ${NAME}(?: WITH (?:ADMIN|INHERIT|SET) (?:OPTION|TRUE|FALSE)(?:, (?:ADMIN|INHERIT|SET) (?:OPTION|TRUE|FALSE))*)?(?: GRANTED BY ${NAME})?`,
].map((pattern) => new RegExp(`${pattern};\\n`, "y"));

/** Roles that stay as they are: the scratch server's own, and the one that loads. */
const OURS = new Set(["attestore", LOADING_ROLE, "public"]);
const GRANT = /^GRANT /;

/**
 * The statements of a server's globals that are run, as the scratch server's superuser: those that
 * make roles and what belongs to them, as pg_dumpall writes them. Nothing else that is in the text
 * is, and nothing that gives rights to a role of ours.
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

function plain(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;
}

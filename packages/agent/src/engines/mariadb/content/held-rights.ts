import { type MariadbSession, type Statement } from "../connection/session.ts";

const NAME = "`(?:[^`]|``)*`";
const PLACE = `(\\*|${NAME})\\.(\\*|${NAME})`;
/** As SHOW GRANTS prints it. The right of a routine or a column is no such line. */
const LINE = new RegExp(
  `^(GRANT|REVOKE) ([A-Za-z_, ]+) ON ${PLACE} (?:TO|FROM) (PUBLIC|${NAME}(?:@${NAME})?)`,
);
const ROLES = new RegExp(`^${NAME}@${NAME}(?:,${NAME}@${NAME})*$`);
/** The server was started without looking at rights. */
const SKIPS_GRANTS = 1290;

interface Grant {
  readonly isRevoked: boolean;
  readonly rights: ReadonlySet<string>;
  /** Null: all of them. A database's name is a pattern. */
  readonly database: string | null;
  readonly table: string | null;
  readonly grantee: string;
}

/** What a session's user may do, as far as that decides what the server lists for it. */
export class HeldRights {
  readonly #grants: readonly Grant[];
  readonly #isAll: boolean;

  constructor(lines: readonly string[], isAll = false) {
    this.#grants = lines.flatMap(grantOf);
    this.#isAll = isAll;
  }

  /** On every database. */
  onServer(...rights: readonly string[]): boolean {
    return (
      this.#isAll ||
      this.#grants.some((each) => !each.isRevoked && each.database === null && has(each, rights))
    );
  }

  /** On the whole of one database. */
  onDatabase(database: string, ...rights: readonly string[]): boolean {
    const own = this.#grants.filter(
      (each) => each.table === null && each.database !== null && matchesPattern(each.database, database),
    );
    const isRevoked = own.some((each) => each.isRevoked && has(each, rights));
    if (!isRevoked && this.onServer(...rights)) return true;
    // Of two grants to the same account, only the one with the more specific name counts.
    const grants = own.filter((each) => !each.isRevoked);
    return grants.some(
      (each) =>
        has(each, rights) &&
        grants.every(
          (other) =>
            other.grantee !== each.grantee ||
            specificity(other.database ?? "") <= specificity(each.database ?? ""),
        ),
    );
  }

  /** On one table, by a grant of its own. */
  onTable(database: string, table: string, ...rights: readonly string[]): boolean {
    return this.#grants.some(
      (each) => !each.isRevoked && each.database === database && each.table === table && has(each, rights),
    );
  }
}

/**
 * Asks for the rights of the session's own user, with those of its roles. Leaves the session with
 * settings of its own.
 * @throws SessionEnded
 */
export async function heldRights(session: MariadbSession): Promise<HeldRights> {
  for (const sql of ["set session sql_mode = ''", "set session sql_quote_show_create = 1"])
    await session.run(sql);
  const own = await session.run("show grants");
  if (!own.ok) return new HeldRights([], own.code === SKIPS_GRANTS);
  // MariaDB has listed those of the role already. MySQL only does so if they are named.
  const roles = linesOf(await session.run("select current_role()")).join();
  const ofRoles = ROLES.test(roles)
    ? await session.run(`show grants for current_user() using ${roles}`)
    : null;
  return new HeldRights([...linesOf(own), ...(ofRoles === null ? [] : linesOf(ofRoles))]);
}

function linesOf(statement: Statement): string[] {
  return statement.ok ? statement.rows.map(([line = ""]) => line) : [];
}

function grantOf(line: string): Grant[] {
  const [, verb, rights, database, table, grantee] = LINE.exec(line) ?? [];
  if (rights === undefined || database === undefined || table === undefined || grantee === undefined)
    return [];
  return [
    {
      isRevoked: verb === "REVOKE",
      rights: new Set(rights.split(",").map((right) => right.trim().toUpperCase())),
      database: named(database),
      table: named(table),
      grantee,
    },
  ];
}

function named(place: string): string | null {
  return place === "*" ? null : place.slice(1, -1).replaceAll("``", "`");
}

function has({ rights }: Grant, wanted: readonly string[]): boolean {
  return rights.has("ALL PRIVILEGES") || wanted.some((right) => rights.has(right));
}

/** In a pattern, `_` and `%` stand for any characters unless a backslash comes before. */
export function matchesPattern(pattern: string, database: string): boolean {
  const source = pattern.replaceAll(/\\([_%\\])|[^]/g, (sign, escaped: string | undefined) =>
    escaped === undefined && sign === "%"
      ? "[^]*"
      : escaped === undefined && sign === "_"
        ? "[^]"
        : (escaped ?? sign).replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"),
  );
  return new RegExp(`^${source}$`).test(database);
}

/** The number of characters before the first that stands for others. */
function specificity(pattern: string): number {
  const at = pattern.replaceAll(/\\[_%\\]/g, "x").search(/[_%]/);
  return at === -1 ? Number.POSITIVE_INFINITY : at;
}

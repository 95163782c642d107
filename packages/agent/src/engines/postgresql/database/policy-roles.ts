import type { RunProgram } from "../../../processes/run-program.ts";
import { outputOf } from "./prepare-database.ts";
import { literal, PsqlSession, SessionEnded } from "../connection/psql-session.ts";
import { connectionFailed } from "../connection/session-error.ts";
import { unquotedName } from "../../quoted-name.ts";

/** The roles that policies and user mappings apply to: without them, their statements fail. */

const NAME = '(?:"(?:[^"\\n]|"")+"|[a-z_][a-z0-9_$]*)';
const FOR_ROLES = new RegExp(
  `^CREATE POLICY [^\\n]* TO (${NAME}(?:, ${NAME})*)(?: (?:USING|WITH CHECK) \\(|;$)`,
  "gm",
);
const FOR_ROLE = new RegExp(`^CREATE USER MAPPING FOR (${NAME}) SERVER `, "gm");
const BEGINNINGS = ["CREATE POLICY ", "CREATE USER MAPPING FOR "];
const MAX_ROLES = 1_000;
const MAX_STATEMENT = 1 << 20;

/** The names of these roles in pg_dump's SQL, each once; at most `MAX_ROLES`. */
export function policyRoles(sql: string): string[] {
  const lists = [...sql.matchAll(FOR_ROLES), ...sql.matchAll(FOR_ROLE)].map(([, list = ""]) => list);
  const names = lists.flatMap((list) => list.match(/"(?:[^"]|"")+"|[^,\s]+/g) ?? []);
  return [...new Set(names.map(unquotedName))].slice(0, MAX_ROLES);
}

/** Creates the roles that do not exist yet, without rights and without login. */
export async function makeRoles(
  run: RunProgram,
  roles: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (roles.length === 0) return;
  const session = await PsqlSession.open(run, {}, signal);
  try {
    const names = `${literal(JSON.stringify(roles))}::json`;
    outputOf(
      await session.run(
        `do $$ begin execute (select coalesce(string_agg(format('create role %I;', name), ''), '')
           from (select distinct each::name from json_array_elements_text(${names}) each) named(name)
           where name operator(pg_catalog.!~) '^(pg_|public$|none$)' and name <> all (select rolname from pg_roles)); end $$`,
      ),
    );
  } catch (error) {
    throw error instanceof SessionEnded ? connectionFailed("the scratch PostgreSQL broke", error) : error;
  } finally {
    await session.close();
  }
}

/**
 * Passes a dump in SQL on, and makes the roles that it names before the statement that does. A dump
 * has its policies at its end.
 */
export async function* withRolesMade(
  content: AsyncIterable<Buffer>,
  make: (roles: readonly string[]) => Promise<void>,
): AsyncGenerator<Buffer, void, undefined> {
  const made = new Set<string>();
  let held: Buffer = Buffer.alloc(0);
  for await (const piece of content) {
    let next: Buffer = held.length === 0 ? piece : Buffer.concat([held, piece]);
    const line = next.lastIndexOf("\n") + 1;
    const isPartOfOne = next.length - line < MAX_STATEMENT && beginsOne(next.subarray(line));
    // A piece is valid only until the next one is requested.
    held = isPartOfOne ? Buffer.from(next.subarray(line)) : Buffer.alloc(0);
    if (isPartOfOne) next = next.subarray(0, line);
    if (BEGINNINGS.some((each) => next.includes(each))) {
      const roles = policyRoles(next.toString("utf8")).filter((name) => !made.has(name));
      const more = roles.slice(0, MAX_ROLES - made.size);
      for (const name of more) made.add(name);
      await make(more);
    }
    if (next.length > 0) yield next;
  }
  if (held.length > 0) yield held;
}

function beginsOne(line: Buffer): boolean {
  const start = line.subarray(0, 32).toString("latin1");
  return start !== "" && BEGINNINGS.some((each) => each.startsWith(start) || start.startsWith(each));
}

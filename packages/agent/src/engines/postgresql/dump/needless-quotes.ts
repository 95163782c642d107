import { programsIn } from "../../../processes/run-program.ts";
import type { Installation } from "../connection/installations.ts";
import { PsqlSession, SessionEnded } from "../connection/psql-session.ts";
import { rowsOf } from "../schema.ts";

/** How pg_dump connects, and whether the server then prints every name in quotes. */
export interface Quoting {
  readonly environment: Readonly<Record<string, string>>;
  readonly quotesAll: boolean;
}

export interface ToDump {
  readonly environment: Readonly<Record<string, string>>;
  readonly tools: Installation;
  /** The name of the database; null for the connection's own. */
  readonly name: string | null;
  readonly signal: AbortSignal;
}

const OFF = "-c quote_all_identifiers=off";

/**
 * Has pg_dump's session quote only names that need it, as our own sessions do: otherwise a source
 * with `quote_all_identifiers` would dump the same expression in another way than it lists it. A
 * pooler may refuse such an option, and a service may have options of its own, so this tries it.
 * `session` is open on the same database.
 * @throws SessionEnded
 */
export async function withoutNeedlessQuotes(session: PsqlSession, to: ToDump): Promise<Quoting> {
  const { environment, tools, name, signal } = to;
  if (!(await quotesAll(session))) return { environment, quotesAll: false };
  const { PGOPTIONS: own = "" } = environment;
  const otherwise = { ...environment, PGOPTIONS: `${own} ${OFF}`.trim() };
  const tried = await PsqlSession.open(programsIn(tools.bin), otherwise, signal, {
    database: name,
    onlyReads: true,
  });
  try {
    if (!(await quotesAll(tried))) return { environment: otherwise, quotesAll: false };
  } catch (error) {
    if (!(error instanceof SessionEnded)) throw error;
  } finally {
    await tried.close();
  }
  return { environment, quotesAll: true };
}

/** Of the session as it began, before our own settings. */
async function quotesAll(session: PsqlSession): Promise<boolean> {
  const asked = await session.run(
    "select json_build_array(reset_val) from pg_settings where name = 'quote_all_identifiers'",
  );
  return asked.ok && rowsOf(asked.output)[0]?.[0] === "on";
}

import { RunError } from "../../../errors/run-error.ts";
import type { DatabaseObject } from "../../content/tagged-objects.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { decodeSql } from "../printed/dump-encodings.ts";
import { PsqlSession, SessionEnded } from "../connection/psql-session.ts";
import { globalStatements, withoutGrantor } from "./global-statements.ts";
import { globalsInDump } from "./globals-in-dump.ts";

/** What a set says about its whole server. */
export interface RestoredGlobals {
  /** As the dump has them. */
  readonly objects: readonly DatabaseObject[];
  /** Those that the scratch server does not take, by kind and name. */
  readonly refused: readonly string[];
}

/**
 * Creates the source's roles with their memberships and settings. It passes over statements that
 * fail, because some depend on how the server was set up, and names them. A check tells later
 * whether each role exists, and another whether the dump has what the source had.
 */
export async function restoreGlobals(
  server: ScratchServer,
  globals: Buffer,
  signal: AbortSignal,
): Promise<RestoredGlobals> {
  const text = globals.toString("latin1");
  const encoding = /^SET client_encoding = '([A-Za-z0-9_]{1,32})';$/m.exec(text)?.[1] ?? "UTF8";
  const session = await PsqlSession.open(server.run, {}, signal);
  const runs = async (statement: string): Promise<boolean> => {
    const hex = Buffer.from(statement, "latin1").toString("hex");
    const { ok } = await session.run(
      `do $attestore$ begin execute pg_catalog.convert_from(pg_catalog.decode('${hex}', 'hex'), '${encoding}'); end $attestore$`,
    );
    return ok;
  };
  const refused: string[] = [];
  try {
    for (const statement of globalStatements(text)) {
      if (await runs(statement)) continue;
      // From version 16 on only the first superuser may give roles without having them. It has
      // another name here.
      const ungranted = withoutGrantor(statement);
      if (ungranted !== null && (await runs(ungranted))) continue;
      const readable = decodeSql(
        Buffer.from(`SET client_encoding = '${encoding}';\n${statement};`, "latin1"),
      );
      refused.push(
        ...globalsInDump(readable).map(({ kind, name }) => `${kind.replaceAll("_", " ")} ${name}`),
      );
    }
  } catch (error) {
    throw error instanceof SessionEnded
      ? new RunError("sandbox_failed", "the scratch PostgreSQL broke while its roles were made")
      : error;
  } finally {
    await session.close();
  }
  return { objects: globalsInDump(decodeSql(globals)), refused };
}

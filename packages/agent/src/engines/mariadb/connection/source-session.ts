import { startChild } from "../../../processes/child.ts";
import { stopIfAborted } from "../../../errors/run-error.ts";
import type { MariadbSettings } from "../../../config/engines/mariadb.ts";
import type { RunContext } from "../../../sandboxes/run-context.ts";
import type { SourceOf } from "../../engine.ts";
import { type ConnectionFile, writeConnectionFile } from "./connection.ts";
import { findClient } from "./programs.ts";
import { MariadbSession, SessionEnded } from "./session.ts";
import { connectionFailed } from "./session-error.ts";

/**
 * Uses one session at the source, and closes it.
 * @throws RunError
 */
export async function inSourceSession<Result>(
  source: Pick<SourceOf<MariadbSettings>, "connection" | "slug">,
  { scratchDir, signal }: Pick<RunContext, "scratchDir" | "signal">,
  use: (session: MariadbSession, connection: ConnectionFile) => Promise<Result>,
): Promise<Result> {
  const client = await findClient();
  const connection = await writeConnectionFile(source.connection, scratchDir);
  try {
    const session = await openSession(client, connection, signal);
    try {
      return await use(session, connection);
    } finally {
      await session.close();
    }
  } catch (error) {
    stopIfAborted(signal);
    throw error instanceof SessionEnded
      ? connectionFailed(`the source ${source.slug} cannot be reached`, error)
      : error;
  } finally {
    await connection.remove();
  }
}

/**
 * A server's own settings, or its `init_connect`, may give each session others. Then it would print
 * texts, names and the rows of today otherwise than a copy's server, or refuse to list what there
 * is.
 */
const SETTINGS = [
  "set names utf8mb4",
  "set session sql_quote_show_create = 1, session sql_big_selects = 1 /*M!100304 , session system_versioning_asof = default */",
];

/** `client`: the path of `mariadb` or `mysql`. @throws SessionEnded */
export function openSession(
  client: string,
  connection: ConnectionFile,
  signal: AbortSignal,
): Promise<MariadbSession> {
  return MariadbSession.open(
    ({ args }) =>
      startChild({
        command: client,
        args: [`--defaults-file=${connection.path}`, ...args],
        env: connection.env,
        signal,
      }),
    signal,
    SETTINGS,
  );
}

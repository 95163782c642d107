import { startChild } from "../../processes/child.ts";
import { stopIfAborted } from "../../errors/run-error.ts";
import type { ClientVersions, SourceOf } from "../engine.ts";
import { writeConnectionFile } from "./connection.ts";
import { connect, requireNewEnough } from "./dump.ts";
import { findClient, findDumper, productOf } from "./programs.ts";
import { MariadbSession, SessionEnded } from "./session.ts";
import { connectionFailed } from "./session-error.ts";
import type { MariadbSettings } from "../../config/engines/mariadb.ts";

/**
 * Returns the versions of the server and of the program that would dump it.
 * @throws RunError
 */
export async function mariadbVersions(
  source: SourceOf<MariadbSettings>,
  { scratchDir, signal }: { readonly scratchDir: string; readonly signal: AbortSignal },
): Promise<ClientVersions> {
  const client = await findClient();
  const connection = await writeConnectionFile(source.connection, scratchDir);
  try {
    const session = await MariadbSession.open(
      ({ args }) =>
        startChild({
          command: client,
          args: [`--defaults-file=${connection.path}`, ...args],
          env: connection.env,
          signal,
        }),
      signal,
    );
    try {
      const version = await connect(session);
      const dumper = await findDumper(productOf(version));
      requireNewEnough(dumper, version);
      return {
        server: `${productOf(version)} ${version}`,
        client: `${dumper.path.replace(/^.*\//, "")} ${dumper.version}`,
      };
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

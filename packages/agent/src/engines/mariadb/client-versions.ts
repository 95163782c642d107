import type { MariadbSettings } from "../../config/engines/mariadb.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import type { ClientVersions, SourceOf } from "../engine.ts";
import { requireNewEnough, serverVersion } from "./connection/server-version.ts";
import { findDumper, productOf } from "./connection/programs.ts";
import { inSourceSession } from "./connection/source-session.ts";

/**
 * Returns the versions of the server and of the program that would dump it.
 * @throws RunError
 */
export function mariadbVersions(
  source: SourceOf<MariadbSettings>,
  context: Pick<RunContext, "scratchDir" | "signal">,
): Promise<ClientVersions> {
  return inSourceSession(source, context, async (session) => {
    const version = await serverVersion(session);
    const dumper = await findDumper(productOf(version));
    requireNewEnough(dumper, version);
    return {
      server: `${productOf(version)} ${version}`,
      client: `${dumper.path.replace(/^.*\//, "")} ${dumper.version}`,
    };
  });
}

import { RunError } from "../../../errors/run-error.ts";
import { type Program, productOf, releaseOf } from "./programs.ts";
import type { MariadbSession } from "./session.ts";
import { rowsOf } from "./session-error.ts";

/**
 * Returns the server's version.
 * @throws RunError, SessionEnded
 */
export async function serverVersion(session: MariadbSession): Promise<string> {
  const version = rowsOf(await session.run("select version()"), "asking for the version")[0]?.[0] ?? "";
  if (releaseOf(version) > 0) return version.slice(0, 100);
  throw new RunError("connection_failed", "the source reports no known version");
}

/** An older dump program may silently leave out objects that it does not know. */
export function requireNewEnough(dumper: Program, version: string): void {
  const product = productOf(version);
  if (dumper.product === product && releaseOf(dumper.version) >= releaseOf(version)) return;
  throw new RunError(
    dumper.product === product ? "tool_too_old" : "tool_missing",
    `the server is ${product} ${version}, but the dump program here is ${dumper.product} ${dumper.version}: install ` +
      (product === "MariaDB"
        ? "mariadb-client of that version or newer"
        : "mysql-client of that version or newer"),
  );
}

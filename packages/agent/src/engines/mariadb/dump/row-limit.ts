import { RunError } from "../../../errors/run-error.ts";
import type { MariadbSession } from "../connection/session.ts";
import { rowsOf } from "../connection/session-error.ts";

/** The setting's default: no limit. */
const NONE = 2n ** 64n - 1n;

/**
 * A server may be set to return only so many rows of each SELECT, or set each session to do so
 * (`init_connect`). The dump programs would then leave out the rest of each table, without an
 * error, and have no option against it.
 * @throws RunError `dump_failed`, SessionEnded
 */
export async function refuseRowLimit(session: MariadbSession): Promise<void> {
  const rows = rowsOf(
    await session.run("select @@global.sql_select_limit, @@session.sql_select_limit"),
    "asking for the row limit",
  );
  const [ofServer = NONE, ofSession = NONE] = (rows[0] ?? []).map(BigInt);
  if (ofServer >= NONE && ofSession >= NONE) return;
  const [whose, limit, remedy] =
    ofServer < NONE
      ? [
          "the server's",
          ofServer,
          "Set it for the sessions that need it, and not for the server: set global sql_select_limit = default",
        ]
      : ["in each new session (init_connect), the", ofSession, "Take it out of the server's init_connect"];
  throw new RunError(
    "dump_failed",
    `${whose} sql_select_limit is ${limit}, and a dump would contain no more rows of any table. No backup was made. ${remedy}`,
  );
}

import { userInfo } from "node:os";
import { newId } from "@attestore/contract";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { writeApiLogRows } from "../../platform/http/api-log/api-log-row.ts";

export interface ConsoleAction {
  /** E.g. `auth-key create`. */
  command: string;
  orgId: string | null;
}

/** The API log row of a command on the command line, in the transaction that does it. */
export async function recordConsoleAction(tx: DatabaseTransaction, action: ConsoleAction): Promise<void> {
  const now = new Date();
  await writeApiLogRows(tx, [
    {
      id: newId("apiLog", now.getTime()),
      org_id: action.orgId,
      actor_kind: "console",
      actor_id: systemUser(),
      method: "RUN",
      route: action.command,
      path: action.command,
      status: 200,
      duration_ms: 0,
      address: "console",
      request_id: newId("request", now.getTime()),
      created_at: now,
    },
  ]);
}

/** The user at the console, as the operating system knows them. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A user id that is missing from the system's list of users, as in some containers.
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}

import { RunError } from "../../errors/run-error.ts";
import { agentsUser } from "../agents-user.ts";
import { isFull, type Response } from "./protocol.ts";

/** SQLite's primary result codes, and what to do about each. */
const ADVICE: Readonly<Record<number, (path: string) => string>> = {
  // BUSY
  5: () => "another process kept it locked for a minute: run the backup when that one is done",
  // READONLY
  8: ofWal,
  // CANTOPEN
  14: ofWal,
  // NOTADB
  26: (path) =>
    `${path} is no SQLite database, or it is encrypted, for example with SQLCipher, which the agent cannot read: ` +
    "back up its directory with the engine files while its application is stopped",
};

function ofWal(path: string): string {
  return (
    `let the agent's user ${agentsUser()} read ${path}, and ${path}-wal and ${path}-shm if they are there, and enter the directories above. ` +
    "If it may, the database was opened and closed while it was copied: run the backup again"
  );
}

/** Why SQLite made no copy of a source. */
export function copyFailure(path: string, scratchDir: string, response: Response | null): RunError {
  const { code, message } = response?.ok === false ? response : { code: -1, message: "no answer" };
  if (isFull(code))
    return new RunError("disk_full", `not enough space in ${scratchDir} for a copy of ${path}`);
  const advice = code === -1 ? undefined : ADVICE[code & 0xff];
  const why = `SQLite cannot copy ${path}: ${message}`;
  return new RunError("dump_failed", advice === undefined ? why : `${why}. ${capitalized(advice(path))}`);
}

function capitalized(text: string): string {
  return text.startsWith("/") ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

import { errorCode } from "@attestore/host/errno";
import { agentsUser } from "./agents-user.ts";
import { RunError } from "../errors/run-error.ts";

const WHY: Readonly<Record<string, string>> = {
  ENOENT: "does not exist: check the source's path",
  ENOTDIR: "is not there, because a part of its path is not a directory: check the source's path",
};

/** `code`: the system's, for something that should be readable. */
export function whatToDo(code: string): string {
  return code === "EACCES"
    ? `let the agent's user ${agentsUser()} read it, and enter the directories above (docs/files.md)`
    : "look at its file system";
}

/**
 * A file or directory of a source that cannot be read, `what` with its path: `the directory /srv`.
 */
export function unreadableSource(what: string, error: unknown): RunError {
  const code = errorCode(error) ?? "unknown error";
  const why = WHY[code] ?? `cannot be read (${code}): ${whatToDo(code)}`;
  return new RunError("source_missing", `${what} ${why}`, { cause: error });
}

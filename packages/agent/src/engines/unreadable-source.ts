import { errorCode } from "@attestore/host/errno";
import { RunError } from "../errors/run-error.ts";

const WHY: Readonly<Record<string, string>> = {
  ENOENT: "does not exist: check the source's path",
  ENOTDIR: "is not there, because a part of its path is not a directory: check the source's path",
};

/**
 * A file or directory of a source that cannot be read, `what` with its path: `the directory /srv`.
 */
export function unreadableSource(what: string, error: unknown): RunError {
  const code = errorCode(error) ?? "unknown error";
  const why = WHY[code] ?? `cannot be read (${code}): check who may read it`;
  return new RunError("source_missing", `${what} ${why}`, { cause: error });
}

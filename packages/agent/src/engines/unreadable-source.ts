import { errorCode } from "@attestore/host/errno";
import { RunError } from "../errors/run-error.ts";

/**
 * A file or directory of a source that cannot be read, `what` with its path: `the directory /srv`.
 */
export function unreadableSource(what: string, error: unknown): RunError {
  const code = errorCode(error);
  const why =
    code === "ENOENT" || code === "ENOTDIR"
      ? "does not exist: check the source's path"
      : `cannot be read (${code ?? "unknown error"}): check who may read it`;
  return new RunError("source_missing", `${what} ${why}`, { cause: error });
}

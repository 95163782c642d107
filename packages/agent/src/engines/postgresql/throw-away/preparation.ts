import { RunError } from "../../../errors/run-error.ts";
import type { Statement } from "../connection/psql-session.ts";

/**
 * Returns the output of one of our statements in the throw-away database.
 * @throws RunError `sandbox_failed`
 */
export function preparation(statement: Statement): string {
  if (statement.ok) return statement.output;
  const { sqlstate } = statement;
  const hint = sqlstate === "42501" ? ": its role must own the database and everything in it" : "";
  throw new RunError(
    "sandbox_failed",
    `the throw-away database could not be used (SQLSTATE ${sqlstate})${hint}`,
  );
}

import { errorCode, errorMessage } from "../errors/errno.ts";

/** PostgreSQL's classes 08 (connection), 53 (resources), 57P (operator intervention), and what the socket says. */
const CODES =
  /^(08...|53...|57P0[1-5]|ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN)$/;
const MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Cannot use a pool after calling end|Connection ended unexpectedly)/;

/** Whether an error means that the database cannot be reached now, rather than that something is wrong with the call. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof Error && error.name === "DatabaseUnavailable") return true;
  const code = errorCode(error);
  return (code !== undefined && CODES.test(code)) || MESSAGES.test(errorMessage(error));
}

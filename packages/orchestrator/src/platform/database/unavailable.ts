import { errorCode, errorMessage } from "@attestore/host/errno";

/**
 * The database can't be reached, is restarting or has no room. Nothing is wrong with the request,
 * and it may be sent again.
 */
export class DatabaseUnavailable extends Error {
  readonly code = "database_unavailable";

  constructor(cause: unknown, message?: string) {
    const code = TIME_OVER.test(errorMessage(cause)) ? "ETIMEDOUT" : errorCode(cause);
    super(
      message ?? MESSAGES[code ?? ""] ?? `The database cannot be reached (${code ?? "connection lost"}).`,
      { cause },
    );
    this.name = "DatabaseUnavailable";
  }
}

/**
 * PostgreSQL, Appendix A, error codes. 25006: a server that became a standby; 57P01..3: shutting
 * down, crashed, starting; 57014: a limit of time ended the statement; 25P03: the transaction,
 * because this process stood still; 28000, 28P01, 3D000: it does not let us in.
 */
const SQL_STATES = /^(08...|57P0[1-5]|53[13]00|25006|25P03|57014|28000|28P01|3D000)$/;
const MESSAGES: Readonly<Record<string, string>> = {
  25006: "The database accepts no writes: it is a standby, or read-only.",
  "28000": "The database does not let the service in (28000).",
  "28P01": "The database does not accept the service's password.",
  "3D000": "The database does not exist.",
  53300: "The database accepts no more connections.",
  53100: "The database's disk is full. Free some space, and try again.",
  "25P03": "The database ended a transaction that stood still for too long. Try again.",
  57014: "The database took too long, and the statement was ended. Try again.",
  // The embedded one's socket, which it removes when it ends.
  ENOENT: "The database is not running. The service's log says why.",
  ETIMEDOUT: "The database does not answer. Try again.",
};
const SYSTEM_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ENOENT",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EHOSTDOWN",
  "ENOTFOUND",
  "EAI_AGAIN",
]);
const TIME_OVER = /^(timeout expired|Query read timeout)$/;
/** node-postgres has no codes of its own. */
const DRIVER_MESSAGES =
  /^(Query read timeout|Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end|connection timeout)/i;

/** Of a Citus coordinator whose main process was killed, without a code of its own. */
const CITUS_ENDS = /^postmaster was shut down, exiting$/;

/**
 * The typed error for a query that failed because of the connection; null if it failed for another
 * reason. A commit that failed this way may have happened or not: only the idempotency record
 * knows, which is why callers are told to repeat the request with the same key.
 */
export function asDatabaseUnavailable(error: unknown): DatabaseUnavailable | null {
  if (error instanceof DatabaseUnavailable) return error;
  if (error instanceof AggregateError && error.errors.some((one) => asDatabaseUnavailable(one) !== null)) {
    return new DatabaseUnavailable(error);
  }
  const code = errorCode(error);
  // A system error of a socket has a `syscall` of connecting, reading or writing; ENOENT of a file
  // does not count.
  const isSocketError = code !== null && SYSTEM_CODES.has(code) && hasSocketCall(error);
  const isSqlState = code !== null && code.length === 5 && SQL_STATES.test(code) && isDatabaseError(error);
  const message = errorMessage(error);
  if (isSocketError || isSqlState || DRIVER_MESSAGES.test(message) || CITUS_ENDS.test(message))
    return new DatabaseUnavailable(error);
  return null;
}

function hasSocketCall(error: unknown): boolean {
  if (typeof error !== "object" || error === null || !("syscall" in error)) return false;
  return ["connect", "read", "write", "getaddrinfo"].includes(String(error.syscall));
}

function isDatabaseError(error: unknown): boolean {
  return typeof error === "object" && error !== null && "severity" in error;
}

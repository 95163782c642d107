import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Logger } from "../logging/logger.ts";

const LINE =
  /^(DEBUG\d?|LOG|INFO|NOTICE|WARNING|ERROR|FATAL|PANIC|DETAIL|HINT|CONTEXT|STATEMENT|QUERY|LOCATION):\s+(.*)$/;

/**
 * The server's messages to clients that are still connected when we stop it, and to those that come
 * too early or too late.
 */
const EXPECTED =
  /^(terminating connection due to administrator command|the database system is (starting up|shutting down|not yet accepting connections))/;

/**
 * Settings that keep queries and their values out of the log, and produce the lines that
 * `forwardLog` reads.
 */
export const LOG_SETTINGS = {
  log_destination: "stderr",
  logging_collector: "off",
  log_line_prefix: "",
  log_timezone: "UTC",
  log_error_verbosity: "terse",
  log_min_messages: "warning",
  log_min_error_statement: "panic",
  log_statement: "none",
};

/**
 * Passes the server's own lines on to our log, and the last complaints to `remember`, for the
 * message of a failed start.
 */
export function forwardLog(stream: Readable, log: Logger, remember: (line: string) => void): void {
  const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
  lines.on("line", (line) => {
    const match = LINE.exec(line);
    const severity = match?.[1] ?? "LOG";
    const text = match?.[2] ?? line;
    if (text.trim() === "") return;
    if (severity === "FATAL" || severity === "PANIC") remember(text);
    if (EXPECTED.test(text)) log.debug({ postgres: text }, "PostgreSQL says");
    else if (["WARNING", "ERROR", "FATAL", "PANIC"].includes(severity)) {
      log.warn({ severity: severity.toLowerCase(), postgres: text }, "PostgreSQL complains");
    } else {
      if (match === null) remember(text); // Such as the loader's "error while loading shared libraries".
      log.debug({ postgres: text }, "PostgreSQL says");
    }
  });
  lines.on("error", () => undefined);
}

import { RunError } from "../../../errors/run-error.ts";
import { isAboutTls } from "../../remote.ts";
import type { SessionEnded, Statement } from "./session.ts";

/** Takes from the client's stderr what a person needs: what failed and why, in one line. */
export function connectionFailed(what: string, { stderr }: SessionEnded): RunError {
  const line = stderr.split("\n").find((each) => /error/i.test(each)) ?? "it closed the connection";
  const hint = isAboutTls(line)
    ? ". A server on another host must prove its identity: add ?ssl-ca=/path/to/its-ca.pem to the connection's URL, or relax this with ssl-verify-server-cert=0 (MySQL's client: ssl-mode=…)"
    : "";
  return new RunError("connection_failed", `${what}: ${line.slice(0, 400)}${hint}`);
}

/**
 * Returns the rows of one of our own statements.
 * @throws RunError `dump_failed`
 */
export function rowsOf(statement: Statement, what: string): readonly (readonly string[])[] {
  if (statement.ok) return statement.rows;
  throw new RunError("dump_failed", `${what} failed with error ${statement.code}${hint(statement.code)}`);
}

function hint(code: number): string {
  if ([1044, 1045, 1142, 1143, 1227].includes(code))
    return ": the user lacks a privilege, such as SELECT or SHOW VIEW";
  if (code === 1969 || code === 3024) return ": it was cancelled or timed out";
  return "";
}

/** Whether the server's file system or one of its tables is full. */
export function isFull(code: number): boolean {
  return code === 1021 || code === 1114 || code === 1598;
}

/**
 * Whether an error is about the server and not about the data: memory, disk, shutdown, or a COMMIT
 * that failed. The client's own errors count too, because they are about its connection.
 */
export function isOfThePlace(code: number): boolean {
  const isOfTheClient = code >= 2000 && code < 3000;
  return isFull(code) || isOfTheClient || [3, 9, 1037, 1038, 1041, 1053, 1135, 1180, 1927].includes(code);
}

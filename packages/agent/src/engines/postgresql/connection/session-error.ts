import { RunError } from "../../../errors/run-error.ts";
import { isAboutTls } from "../../remote.ts";
import type { SessionEnded, Statement } from "./psql-session.ts";

/** Shortens psql's stderr to one line for people: what failed, and why. */
export function connectionFailed(what: string, { stderr }: SessionEnded): RunError {
  const line = stderr.split("\n").find((each) => /error|FATAL/i.test(each)) ?? "it closed the connection";
  const hint = isAboutTls(line)
    ? ". A server on another host must prove its identity: add ?sslrootcert=/path/to/its-ca.pem to the connection's URL, or relax this with ?sslmode=…"
    : "";
  const said = line.replace(/^psql: error: /, "").slice(0, 400);
  return new RunError("connection_failed", `${what}: ${said}${hint}`);
}

/** Returns the output of one of our own statements, which should never fail. */
export function outputOf(statement: Statement, what: string): string {
  if (statement.ok) return statement.output;
  throw new RunError(
    "dump_failed",
    `${what} failed with SQLSTATE ${statement.sqlstate}${hint(statement.sqlstate)}`,
  );
}

function hint(sqlstate: string): string {
  if (sqlstate === "42501") return ": the role lacks a privilege, such as pg_read_all_data";
  if (sqlstate === "57014") return ": it was cancelled or timed out";
  if (sqlstate === "22021")
    return (
      ": a name or definition in the database is not UTF-8. A database in the encoding SQL_ASCII takes any bytes: " +
      "rename what has others, or move the data to a database in UTF8"
    );
  return "";
}

/**
 * Classes of SQLSTATE about the place and not the data: connection, resources, operator, system.
 */
export function isOfThePlace(sqlstate: string): boolean {
  return /^(?:08|53|57|58)/.test(sqlstate);
}

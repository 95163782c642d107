import { utf8 } from "../bytes.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import type { Issue } from "../json/shape.ts";
import { parseJson } from "../json/strict-json.ts";
import { ProofError } from "../proof-error.ts";
import { readingIssues, recordedStatementIssues, statementIssues } from "./statement-shape.ts";
import type { Statement } from "./statement.ts";

export type ParsedStatement = { ok: true; statement: Statement } | { ok: false; issues: Issue[] };

/**
 * The result of reading a payload. Without `statement`, the payload is either wrong (`issues`) or
 * of a later version (`later`).
 */
export interface ReadStatement {
  statement?: Statement;
  issues: Issue[];
  /**
   * Unknown types, digests and names. With these, nobody can tell whether the statement is valid.
   */
  later: Issue[];
  /** Unknown fields. Their contents were not checked. */
  added: Issue[];
}

/**
 * Parses the payload of a receipt that is about to be recorded. Returns the whole statement, or a
 * list of issues with JSON Pointers; never throws. Refuses unknown fields, duplicate members, a
 * subject that is not the predicate's backup, an end before the beginning, and `result: "passed"`
 * without a check or with a failed one.
 */
export function parseStatement(payload: Uint8Array): ParsedStatement {
  return parse(payload, statementIssues);
}

/** Parses a receipt that is already recorded: older services accepted its times in any order. */
export function parseRecordedStatement(payload: Uint8Array): ParsedStatement {
  return parse(payload, recordedStatementIssues);
}

/**
 * Parses the payload of a receipt for verification. Pass the bytes whose signature was verified.
 * Ignores fields that a later version added, as in-toto requires. Unknown types, digests and names
 * are `later`. Never throws.
 */
export function readStatement(payload: Uint8Array): ReadStatement {
  const value = jsonOf(payload);
  if ("issue" in value) return { issues: [value.issue], later: [], added: [] };
  const { wrong, later, added } = readingIssues(value.json);
  const told = { issues: wrong, later, added };
  return wrong.length + later.length === 0 ? { statement: value.json as Statement, ...told } : told;
}

function parse(payload: Uint8Array, issuesOf: (value: unknown) => Issue[]): ParsedStatement {
  const value = jsonOf(payload);
  const issues = "issue" in value ? [value.issue] : issuesOf(value.json);
  return "json" in value && issues.length === 0
    ? { ok: true, statement: value.json as Statement }
    : { ok: false, issues };
}

function jsonOf(payload: Uint8Array): { json: unknown } | { issue: Issue } {
  try {
    return { json: parseJson(payload) };
  } catch (error) {
    if (error instanceof ProofError) return { issue: { path: "", message: `is refused: ${error.message}` } };
    throw error;
  }
}

/**
 * Returns the payload bytes to sign: canonical JSON. Throws `statement_invalid` for anything that
 * parseStatement refuses.
 */
export function formatStatement(statement: Statement): Uint8Array {
  const payload = utf8(canonicalJson(statement));
  const parsed = parseStatement(payload);
  if (!parsed.ok) {
    const why = parsed.issues.map(({ path, message }) => `${path} ${message}`).join("; ");
    throw new ProofError("statement_invalid", `the statement is invalid: ${why}`);
  }
  return payload;
}

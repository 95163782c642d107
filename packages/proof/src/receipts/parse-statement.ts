import { utf8 } from "../bytes.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import type { Issue } from "../json/shape.ts";
import { parseJson } from "../json/strict-json.ts";
import { ProofError } from "../proof-error.ts";
import { readingIssues, recordedStatementIssues, statementIssues } from "./statement-shape.ts";
import type { Statement } from "./statement.ts";

export type ParsedStatement = { ok: true; statement: Statement } | { ok: false; issues: Issue[] };

/** What a verifier makes of a payload. Without `statement` it is either wrong (`issues`) or of a later version (`later`). */
export interface ReadStatement {
  statement?: Statement;
  issues: Issue[];
  /** Types, digests and names that are not known here: whether the statement is a good one cannot be told. */
  later: Issue[];
  /** Fields that are not known here. Nothing was looked for in them. */
  added: Issue[];
}

/**
 * The payload of a receipt that is to be recorded, or that was just made. All or a list of what is wrong, each with a JSON Pointer;
 * never throws. Refused are unknown fields, members that stand twice, a subject that is not the predicate's backup, an end before the
 * beginning, and `result: "passed"` without a check or with one that failed.
 */
export function parseStatement(payload: Uint8Array): ParsedStatement {
  return parse(payload, statementIssues);
}

/** The same of a receipt that is recorded already: older services took any order of its times. */
export function parseRecordedStatement(payload: Uint8Array): ParsedStatement {
  return parse(payload, recordedStatementIssues);
}

/**
 * The payload of a receipt that is to be verified: give it the bytes whose signature was verified. Fields that a later version added
 * are passed over, as in-toto asks, and what has another type, digest or name than is known here is `later`. Never throws.
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

/** The payload bytes to sign: canonical JSON. Throws `statement_invalid` for what parseStatement would refuse. */
export function formatStatement(statement: Statement): Uint8Array {
  const payload = utf8(canonicalJson(statement));
  const parsed = parseStatement(payload);
  if (!parsed.ok) {
    const why = parsed.issues.map(({ path, message }) => `${path} ${message}`).join("; ");
    throw new ProofError("statement_invalid", `the statement is invalid: ${why}`);
  }
  return payload;
}

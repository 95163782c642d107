import { utf8 } from "../bytes.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import type { Issue } from "../json/shape.ts";
import { parseJson } from "../json/strict-json.ts";
import { ProofError } from "../proof-error.ts";
import { statementIssues } from "./statement-shape.ts";
import type { Statement } from "./statement.ts";

export type ParsedStatement = { ok: true; statement: Statement } | { ok: false; issues: Issue[] };

/**
 * The payload of a receipt: give it the bytes whose signature was verified. All or a list of what is wrong, each with a
 * JSON Pointer; never throws. Refused are unknown fields, members that stand twice, a subject that is not the
 * predicate's backup, and `result: "passed"` without a check or with one that failed.
 */
export function parseStatement(payload: Uint8Array): ParsedStatement {
  let value: unknown;
  try {
    value = parseJson(payload);
  } catch (error) {
    if (error instanceof ProofError)
      return { ok: false, issues: [{ path: "", message: `is refused: ${error.message}` }] };
    throw error;
  }
  const issues = statementIssues(value);
  return issues.length === 0 ? { ok: true, statement: value as Statement } : { ok: false, issues };
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

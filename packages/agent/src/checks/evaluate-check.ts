import { canonicalJson, type CheckOutcome, sha256, toHex, utf8 } from "@attestore/proof";
import { ExpectationError } from "./expectation/expectation-error.ts";
import { holdTo } from "./expectation/evaluate.ts";
import { parseExpectation } from "./expectation/parse.ts";
import { observedRecord } from "./observed.ts";
import { queryErrorReason } from "./query-error-reason.ts";
import type { QueryOutcome } from "./query-outcome.ts";
import { MalformedRow, type Observation, parseRow } from "./row.ts";

/** What is asked of the restored data: one row of `query`, held against `expect`. */
export interface CheckDefinition {
  readonly id: string;
  readonly query: string;
  readonly expect: string;
}

/** SHA-256, in hex, of the RFC 8785 (JCS) text of `{expect, id, query}`. */
export function definitionSha256(definition: CheckDefinition): string {
  const { id, query, expect } = wellFormed(definition);
  return toHex(sha256(utf8(canonicalJson({ id, query, expect }))));
}

/**
 * One check as a receipt carries it. It passed only if the query gave exactly one row for which the expectation is
 * true. Everything else is a failed check, whose reason stands in `observed.error` (`observedRecord`). Never throws.
 */
export function evaluateCheck(
  definition: CheckDefinition,
  outcome: QueryOutcome,
  duration_ms: number,
  now = new Date(),
): CheckOutcome {
  return entry(definition, decide(definition.expect, outcome, now), duration_ms);
}

/** A check that failed before there was anything to hold against its expectation. */
export function failCheck(definition: CheckDefinition, reason: string, duration_ms: number): CheckOutcome {
  return entry(definition, failed(reason), duration_ms);
}

function entry(definition: CheckDefinition, decision: Decision, duration_ms: number): CheckOutcome {
  const { id, expect } = wellFormed(definition);
  return {
    id,
    definition_sha256: definitionSha256(definition),
    observed: decision.observed,
    expectation: expect,
    result: decision.passed ? "passed" : "failed",
    duration_ms: duration_ms > 0 && duration_ms < Number.MAX_SAFE_INTEGER ? Math.round(duration_ms) : 0,
  };
}

/** Canonical JSON has no text for lone surrogates; a table may well be named with one. */
function wellFormed({ id, query, expect }: CheckDefinition): CheckDefinition {
  return { id: id.toWellFormed(), query: query.toWellFormed(), expect: expect.toWellFormed() };
}

interface Decision {
  readonly passed: boolean;
  readonly observed: Record<string, unknown>;
}

function decide(expect: string, outcome: QueryOutcome, now: Date): Decision {
  if (outcome.kind === "error") return failed(queryErrorReason(outcome.message, outcome.sqlstate));
  if (outcome.kind === "timeout") return failed(`the query did not end within ${outcome.after_s} s`);
  const [text, second] = outcome.rows;
  if (text === undefined) return failed("the query gave no row");
  if (second !== undefined) return failed("the query gave more than one row");
  let row: Observation = [];
  try {
    row = parseRow(text);
    const held = holdTo(parseExpectation(expect), row, now);
    return { passed: held.holds, observed: observedRecord(row, held.holds ? null : held.reason) };
  } catch (error) {
    if (error instanceof MalformedRow) return failed(error.message);
    if (error instanceof ExpectationError)
      return failed(`the expectation is no expression: ${error.message}`, row);
    throw error;
  }
}

function failed(reason: string, row: Observation = []): Decision {
  return { passed: false, observed: observedRecord(row, reason) };
}

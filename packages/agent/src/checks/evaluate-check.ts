import { canonicalJson, type CheckOutcome, sha256, toHex, utf8 } from "@attestore/proof";
import { ExpectationError } from "./expectation/expectation-error.ts";
import { holdTo } from "./expectation/evaluate.ts";
import { parseExpectation } from "./expectation/parse.ts";
import { observedRecord } from "./observed.ts";
import { type QueryOutcome, queryErrorReason } from "./query-outcome.ts";
import { MalformedRow, type Observation, parseRow } from "./row.ts";

/** What is asked of the restored data: one row of `query`, held against `expect`. */
export interface CheckDefinition {
  readonly id: string;
  readonly query: string;
  readonly expect: string;
}

/** SHA-256, in hex, of the RFC 8785 (JCS) text of `{expect, id, query}`. */
export function definitionSha256({ id, query, expect }: CheckDefinition): string {
  const definition = { id, query, expect };
  return toHex(sha256(utf8(canonicalJson(mapText(definition)))));
}

/** JCS has no text for lone surrogates, and a check must come to a result whatever is in its definition. */
function mapText({ id, query, expect }: CheckDefinition): CheckDefinition {
  return { id: id.toWellFormed(), query: query.toWellFormed(), expect: expect.toWellFormed() };
}

/**
 * One check as a receipt carries it. It passed only if the query gave exactly one row for which the expectation is
 * true; everything else is a failed check whose reason stands in `observed.error` (`observedRecord`). Never throws.
 */
export function evaluateCheck(
  definition: CheckDefinition,
  outcome: QueryOutcome,
  duration_ms: number,
): CheckOutcome {
  const { passed, observed } = decide(definition, outcome);
  return {
    id: definition.id,
    definition_sha256: definitionSha256(definition),
    observed,
    expectation: definition.expect.toWellFormed(),
    result: passed ? "passed" : "failed",
    duration_ms: wholeMilliseconds(duration_ms),
  };
}

interface Decision {
  readonly passed: boolean;
  readonly observed: Record<string, unknown>;
}

function decide(definition: CheckDefinition, outcome: QueryOutcome): Decision {
  if (outcome.kind === "error") return failed(queryErrorReason(outcome.message, outcome.sqlstate));
  if (outcome.kind === "timeout") return failed(`the query did not end within ${outcome.after_s} s`);
  const [text, second] = outcome.rows;
  if (text === undefined) return failed("the query gave no row");
  if (second !== undefined) return failed("the query gave more than one row");
  let row: Observation = [];
  try {
    row = parseRow(text);
    const held = holdTo(parseExpectation(definition.expect), row);
    return { passed: held.holds, observed: observedRecord(row, held.holds ? null : held.reason) };
  } catch (error) {
    if (error instanceof MalformedRow) return failed(error.message);
    if (error instanceof ExpectationError)
      return failed(`the expectation is malformed ${error.message}`, row);
    throw error;
  }
}

function failed(reason: string, row: Observation = []): Decision {
  return { passed: false, observed: observedRecord(row, reason) };
}

function wholeMilliseconds(duration_ms: number): number {
  return Number.isFinite(duration_ms) && duration_ms > 0 ? Math.round(duration_ms) : 0;
}

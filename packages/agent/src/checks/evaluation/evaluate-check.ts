import { canonicalJson, type CheckOutcome, sha256, toHex, utf8 } from "@attestore/proof";
import { ExpectationError } from "../expectation/expectation-error.ts";
import { holdTo } from "../expectation/evaluate.ts";
import { parseExpectation } from "../expectation/parse.ts";
import { notInTime } from "./not-in-time.ts";
import { observedRecord } from "../values/observed.ts";
import { queryErrorReason } from "./query-error-reason.ts";
import type { QueryOutcome } from "./query-outcome.ts";
import { MalformedRow, type Observation, parseRow } from "../values/row.ts";

/** A question to the restored data: one row of `query`, compared with `expect`. */
export interface CheckDefinition {
  readonly id: string;
  readonly query: string;
  readonly expect: string;
}

/** Or the output of a program, or the presence of a secret. */
export type AnyDefinition =
  | CheckDefinition
  | { readonly id: string; readonly command: readonly string[]; readonly expect: string }
  | { readonly id: string; readonly query: string; readonly canary: true };

/**
 * SHA-256, in hex, of the RFC 8785 (JCS) text of `{expect, id, query}`; of a command of `{command,
 * expect, id}`; of a canary of `{canary: true, id, query}`, without the secret.
 */
export function definitionSha256(definition: AnyDefinition): string {
  return toHex(sha256(utf8(canonicalJson(fieldsOf(definition)))));
}

/** Canonical JSON has no text for lone surrogates, and a table's name may contain one. */
function fieldsOf(definition: AnyDefinition): Record<string, string | boolean | string[]> {
  const id = definition.id.toWellFormed();
  if ("canary" in definition) return { canary: true, id, query: definition.query.toWellFormed() };
  const expect = definition.expect.toWellFormed();
  if ("command" in definition)
    return { command: definition.command.map((word) => word.toWellFormed()), expect, id };
  return { id, expect, query: definition.query.toWellFormed() };
}

/**
 * One check in a receipt's form. It passed only if the query returned exactly one row for which the
 * expectation is true. Everything else is a failed check, with the reason in `observed.error`
 * (`observedRecord`). Never throws.
 */
export function evaluateCheck(
  definition: CheckDefinition,
  outcome: QueryOutcome,
  duration_ms: number,
  now = new Date(),
): CheckOutcome {
  const { expect } = definition;
  return entryOf(definition, expect, decide(expect, outcome, now), duration_ms);
}

/** The output of a command, or why it cannot be compared with anything. */
export type Printed =
  | { readonly kind: "printed"; readonly text: string }
  | { readonly kind: "useless"; readonly reason: string };

/** The same for the output of a program: a JSON object is its row. */
export function evaluateCommand(
  definition: Extract<AnyDefinition, { command: unknown }>,
  printed: Printed,
  duration_ms: number,
  now = new Date(),
): CheckOutcome {
  const { expect } = definition;
  const decision =
    printed.kind === "useless"
      ? failed(printed.reason)
      : decide(expect, { kind: "rows", rows: [printed.text] }, now);
  return entryOf(definition, expect, decision, duration_ms);
}

/** A check that failed before there was anything to compare with its expectation. */
export function failCheck(definition: CheckDefinition, reason: string, duration_ms: number): CheckOutcome {
  return entryOf(definition, definition.expect, failed(reason), duration_ms);
}

export function entryOf(
  definition: AnyDefinition,
  expectation: string,
  decision: Decision,
  duration_ms: number,
): CheckOutcome {
  return {
    id: definition.id.toWellFormed(),
    definition_sha256: definitionSha256(definition),
    observed: decision.observed,
    expectation: expectation.toWellFormed(),
    result: decision.passed ? "passed" : "failed",
    duration_ms: duration_ms > 0 && duration_ms < Number.MAX_SAFE_INTEGER ? Math.round(duration_ms) : 0,
  };
}

export interface Decision {
  readonly passed: boolean;
  readonly observed: Record<string, unknown>;
}

function decide(expect: string, outcome: QueryOutcome, now: Date): Decision {
  if (outcome.kind === "error") return failed(queryErrorReason(outcome.message, outcome.sqlstate));
  if (outcome.kind === "timeout") return failed(notInTime("query", outcome.after_s));
  const [text, second] = outcome.rows;
  if (text === undefined) return failed("the query returned no row");
  if (second !== undefined) return failed("the query returned more than one row");
  let row: Observation = [];
  try {
    row = parseRow(text);
    const held = holdTo(parseExpectation(expect), row, now);
    return { passed: held.holds, observed: observedRecord(row, held.holds ? null : held.reason) };
  } catch (error) {
    if (error instanceof MalformedRow) return failed(error.message);
    if (error instanceof ExpectationError)
      return failed(`the expectation is not a valid expression: ${error.message}`, row);
    throw error;
  }
}

function failed(reason: string, row: Observation = []): Decision {
  return { passed: false, observed: observedRecord(row, reason) };
}

import { compareDecimals, type Decimal, parseDecimal } from "../values/decimal.ts";
import { MAX_MATCHED, Pattern } from "../pattern/pattern.ts";
import type { Observation, Value } from "../values/row.ts";
import { ageOf } from "./age.ts";
import {
  type ColumnName,
  type Expression,
  type Literal,
  type Operand,
  type Operator,
  printName,
} from "./expression.ts";
import { findColumn, listNames } from "./find-column.ts";

/** `reason` where there is more to say than that the expectation is not met. */
export type Held = { readonly holds: true } | { readonly holds: false; readonly reason: string | null };

/** SQL's: null is "unknown". */
type Truth = boolean | null;

interface Scope {
  readonly row: Observation;
  readonly now: Date;
  readonly problems: Set<string>;
  readonly nulls: Set<string>;
}

/**
 * Evaluates an expectation for a row, in SQL's three-valued logic: a comparison with NULL is
 * unknown, so is its negation, and an unknown result does not hold. Numbers compare exactly, text
 * by code point (times as text), booleans by = and != only. Ages are as of `now`. A missing column,
 * or two types that do not compare, make it fail wherever in the expression they are: every part is
 * evaluated.
 */
export function holdTo(expression: Expression, row: Observation, now: Date): Held {
  const scope: Scope = { row, now, problems: new Set(), nulls: new Set() };
  const truth = evaluate(expression, scope);
  const [problem] = scope.problems;
  if (problem !== undefined) return { holds: false, reason: problem };
  if (truth === true) return { holds: true };
  const isUnknown = truth === null;
  return {
    holds: false,
    reason: isUnknown ? `NULL never satisfies a comparison: ${listNames([...scope.nulls])}` : null,
  };
}

function evaluate(expression: Expression, scope: Scope): Truth {
  switch (expression.kind) {
    case "and":
      return all(expression.terms.map((term) => evaluate(term, scope)));
    case "or":
      return any(expression.terms.map((term) => evaluate(term, scope)));
    case "not": {
      const truth = evaluate(expression.term, scope);
      return truth === null ? null : !truth;
    }
    case "comparison":
      return compare(expression.left, expression.operator, expression.right, scope);
    case "between": {
      const { operand, low, high } = expression;
      return all([compare(operand, ">=", low, scope), compare(operand, "<=", high, scope)]);
    }
    case "in":
      return any(expression.list.map((each) => compare(expression.operand, "=", each, scope)));
    case "matches":
      return matches(expression.column, expression.pattern, scope);
    case "isNull":
      return read(expression.column, scope)?.kind === "null";
    case "truth":
      return truthOf(expression.column, scope);
  }
}

function all(terms: readonly Truth[]): Truth {
  if (terms.includes(false)) return false;
  return terms.includes(null) ? null : true;
}

function any(terms: readonly Truth[]): Truth {
  if (terms.includes(true)) return true;
  return terms.includes(null) ? null : false;
}

function compare(left: Operand, operator: Operator, right: Operand, scope: Scope): Truth {
  const a = readComparable(left, scope);
  const b = readComparable(right, scope);
  if (a === null || b === null) return null;
  if (a.kind === "age" && b.kind === "age") return decide(operator, compareDecimals(a.seconds, b.seconds));
  if (a.kind === "number" && b.kind === "number") return decide(operator, compareDecimals(a.value, b.value));
  if (a.kind === "text" && b.kind === "text") return decide(operator, compareText(a.value, b.value));
  if (a.kind === "boolean" && b.kind === "boolean") {
    if (operator === "=") return a.value === b.value;
    if (operator === "!=") return a.value !== b.value;
    scope.problems.add(`${describe(left, a)} and ${describe(right, b)} can't be ordered: use = or !=`);
    return null;
  }
  scope.problems.add(`${describe(left, a)} can't be compared with ${describe(right, b)}`);
  return null;
}

function decide(operator: Operator, order: number): boolean {
  switch (operator) {
    case "=":
      return order === 0;
    case "!=":
      return order !== 0;
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
  }
}

function matches(column: ColumnName, pattern: string, scope: Scope): Truth {
  const value = readComparable(column, scope);
  if (value === null) return null;
  if (value.kind !== "text") {
    scope.problems.add(`${describe(column, value)} is not text, and a pattern needs text`);
    return null;
  }
  if (value.value.length > MAX_MATCHED) {
    const size = `${value.value.length} characters, more than the ${MAX_MATCHED} that a pattern can match`;
    scope.problems.add(`${printName(column.name)} has ${size}`);
    return null;
  }
  return Pattern.parse(pattern).matches(value.value);
}

/** As `COLLATE "C"` orders UTF-8. JavaScript's own order is by UTF-16 code unit. */
function compareText(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function truthOf(column: ColumnName, scope: Scope): Truth {
  const value = readComparable(column, scope);
  if (value === null) return null;
  if (value.kind === "boolean") return value.value;
  scope.problems.add(`${describe(column, value)} is not a boolean: compare it with something`);
  return null;
}

type Comparable = Exclude<Value, { kind: "null" }> | { readonly kind: "age"; readonly seconds: Decimal };

/** null for NULL, which is noted, and if there is no such column. */
function readComparable(operand: Operand, scope: Scope): Comparable | null {
  if (operand.kind === "duration") return { kind: "age", seconds: decimal(String(operand.seconds)) };
  if (operand.kind === "age") return readAge(operand.column, scope);
  const value = read(operand, scope);
  if (value?.kind !== "null") return value;
  if (operand.kind === "column") scope.nulls.add(operand.name);
  return null;
}

/**
 * null, and a problem, also for a moment that is yet to come: nobody knows how old the data are
 * then.
 */
function readAge(column: ColumnName, scope: Scope): Comparable | null {
  const value = readComparable(column, scope);
  if (value === null) return null;
  const age = value.kind === "age" ? null : ageOf(value, scope.now);
  if (age !== null && "seconds" in age) return { kind: "age", seconds: decimal(age.seconds) };
  scope.problems.add(`${describe(column, value)} ${age?.problem ?? "has no age"}`);
  return null;
}

function decimal(text: string): Decimal {
  const value = parseDecimal(text);
  if (value === null) throw new TypeError(`${text} is not a number`);
  return value;
}

/** null, and a problem, if there is no such column. */
function read(operand: ColumnName | Literal, scope: Scope): Value | null {
  if (operand.kind !== "column") return operand;
  const found = findColumn(operand, scope.row);
  if ("value" in found) return found.value;
  scope.problems.add(found.problem);
  return null;
}

const TYPE_NAMES = {
  null: "NULL",
  boolean: "boolean",
  number: "number",
  text: "text",
  json: "JSON",
  age: "age",
} as const;

function describe(operand: Operand, { kind }: Value | Comparable): string {
  return operand.kind === "column"
    ? `${printName(operand.name)} (${TYPE_NAMES[kind]})`
    : `a ${TYPE_NAMES[kind]}`;
}

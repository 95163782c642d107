import { Decimal } from "./decimal.ts";
import type { Expectation, Operand } from "./expectation.ts";
import type { Operator } from "./expectation-tokens.ts";
import type { Value } from "./query-result.ts";

/** The row cannot be held against the expectation: a column that is not there, or types that do not compare. */
export class IncomparableError extends Error {
  readonly code = "incomparable";
  constructor(message: string) {
    super(message);
    this.name = "IncomparableError";
  }
}

/** SQL's third truth value: what a comparison with NULL gives. */
type Truth = boolean | null;

/**
 * Whether the row satisfies the expectation. NULL never does.
 *
 * Both sides of `and` and `or` are always looked at, so that a misspelt column is found whatever the data.
 * @throws IncomparableError
 */
export function satisfies(row: ReadonlyMap<string, Value>, expectation: Expectation): boolean {
  return evaluate(row, expectation) === true;
}

function evaluate(row: ReadonlyMap<string, Value>, expectation: Expectation): Truth {
  switch (expectation.kind) {
    case "and": {
      const left = evaluate(row, expectation.left);
      const right = evaluate(row, expectation.right);
      return left === false || right === false ? false : left === null || right === null ? null : true;
    }
    case "or": {
      const left = evaluate(row, expectation.left);
      const right = evaluate(row, expectation.right);
      return left === true || right === true ? true : left === null || right === null ? null : false;
    }
    case "not": {
      const inner = evaluate(row, expectation.inner);
      return inner === null ? null : !inner;
    }
    case "compare":
      return compare(row, expectation.operator, expectation.left, expectation.right);
    case "between": {
      const low = compare(row, ">=", expectation.operand, expectation.low);
      const high = compare(row, "<=", expectation.operand, expectation.high);
      return low === false || high === false ? false : low === null || high === null ? null : true;
    }
    case "is_null":
      return valueOf(row, expectation.operand) === null;
    case "truth": {
      const value = valueOf(row, expectation.operand);
      if (value === null || typeof value === "boolean") return value;
      throw new IncomparableError(
        `${nameOf(expectation.operand)} is ${typeName(value)}: compare it with something`,
      );
    }
  }
}

function compare(
  row: ReadonlyMap<string, Value>,
  operator: Operator,
  leftSide: Operand,
  rightSide: Operand,
): Truth {
  const left = valueOf(row, leftSide);
  const right = valueOf(row, rightSide);
  if (left === null || right === null) return null;
  const order = orderOf(left, right);
  if (order === null) {
    throw new IncomparableError(
      `${nameOf(leftSide)} is ${typeName(left)} and ${nameOf(rightSide)} is ${typeName(right)}: they do not compare`,
    );
  }
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

/** Texts by code units (which orders ISO dates), false before true; null if the two have no order. */
function orderOf(left: Exclude<Value, null>, right: Exclude<Value, null>): number | null {
  if (left instanceof Decimal && right instanceof Decimal) return left.compare(right);
  if (typeof left === "string" && typeof right === "string") return left < right ? -1 : left > right ? 1 : 0;
  if (typeof left === "boolean" && typeof right === "boolean") return Number(left) - Number(right);
  return null;
}

function valueOf(row: ReadonlyMap<string, Value>, operand: Operand): Value {
  if (operand.kind === "literal") return operand.value;
  const value = row.get(operand.name);
  if (value !== undefined) return value;
  const columns = [...row.keys()].join(", ");
  throw new IncomparableError(
    `the row has no column ${operand.name}; it has ${columns === "" ? "none" : columns}`,
  );
}

function nameOf(operand: Operand): string {
  if (operand.kind === "column") return operand.name;
  return operand.value instanceof Decimal ? operand.value.text : String(operand.value);
}

function typeName(value: Exclude<Value, null>): string {
  if (value instanceof Decimal) return "a number";
  if (typeof value === "string") return "a text";
  return typeof value === "boolean" ? "a truth value" : value.other;
}

import { compareDecimals } from "../decimal.ts";
import type { Observation, Value } from "../row.ts";
import {
  type ColumnName,
  type Expression,
  isPlainName,
  type Operand,
  type Operator,
  quoteName,
} from "./expression.ts";

/** SQL's: null is "unknown", which only `is null` makes anything of. */
type Truth = boolean | null;

/** `reason` where there is more to say than that the expectation is not met. */
export type Held = { readonly holds: true } | { readonly holds: false; readonly reason: string | null };

const MAX_NAMES = 20;

/**
 * Holds a row against an expectation, in SQL's three-valued logic: a comparison with NULL is unknown, so is its negation, and
 * unknown does not hold. Numbers compare exactly, text by code point (times as the text that they are), booleans by = and
 * != only. A column that is not there, or values of different types, let it fail wherever they stand: all parts are looked at.
 */
export function holdTo(expression: Expression, row: Observation): Held {
  const problems = new Set<string>();
  const nulls = new Set<string>();
  const truth = evaluate(expression, { row, problems, nulls });
  const [problem] = problems;
  if (problem !== undefined) return { holds: false, reason: problem };
  if (truth === true) return { holds: true };
  const unknown = [...nulls].slice(0, MAX_NAMES).join(", ");
  const reason = truth === null ? `${unknown}: NULL, which satisfies no comparison` : null;
  return { holds: false, reason };
}

interface Scope {
  readonly row: Observation;
  readonly problems: Set<string>;
  readonly nulls: Set<string>;
}

function evaluate(expression: Expression, scope: Scope): Truth {
  switch (expression.kind) {
    case "and":
      return all(expression.terms.map((term) => evaluate(term, scope)));
    case "or":
      return any(expression.terms.map((term) => evaluate(term, scope)));
    case "not":
      return not(evaluate(expression.term, scope));
    case "comparison":
      return compare(expression.left, expression.operator, expression.right, scope);
    case "between": {
      const { operand, low, high } = expression;
      return all([compare(operand, ">=", low, scope), compare(operand, "<=", high, scope)]);
    }
    case "in":
      return any(expression.list.map((each) => compare(expression.operand, "=", each, scope)));
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

function not(truth: Truth): Truth {
  return truth === null ? null : !truth;
}

function compare(left: Operand, operator: Operator, right: Operand, scope: Scope): Truth {
  const a = read(left, scope);
  const b = read(right, scope);
  if (a === null || b === null) return null;
  if (a.kind === "null" || b.kind === "null") return null;
  if (a.kind === "number" && b.kind === "number") return decide(operator, compareDecimals(a.value, b.value));
  if (a.kind === "text" && b.kind === "text") return decide(operator, compareText(a.value, b.value));
  if (a.kind === "boolean" && b.kind === "boolean") {
    if (operator === "=") return a.value === b.value;
    if (operator === "!=") return a.value !== b.value;
    scope.problems.add(`${describe(left, a)} has no order: booleans take = and != only`);
    return null;
  }
  scope.problems.add(`${describe(left, a)} does not compare with ${describe(right, b)}`);
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

/** By code point, as `COLLATE "C"` orders UTF-8; JavaScript's own order is by UTF-16 code unit. */
function compareText(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function truthOf(column: ColumnName, scope: Scope): Truth {
  const value = read(column, scope);
  if (value === null || value.kind === "null") return null;
  if (value.kind === "boolean") return value.value;
  scope.problems.add(`${describe(column, value)} is not a boolean: compare it with something`);
  return null;
}

/** null where there is no such column, which is then noted as a problem. */
function read(operand: Operand, scope: Scope): Value | null {
  if (operand.kind !== "column") return operand;
  const found = find(operand, scope.row);
  if (typeof found === "string") {
    scope.problems.add(found);
    return null;
  }
  if (found.kind === "null") scope.nulls.add(shown(operand.name));
  return found;
}

function find({ name, isQuoted }: ColumnName, row: Observation): Value | string {
  const exact = row.find((column) => column.name === name);
  if (exact !== undefined) return exact.value;
  const lower = name.toLowerCase();
  const alike = isQuoted ? [] : row.filter((column) => column.name.toLowerCase() === lower);
  const [only] = alike;
  if (only !== undefined && alike.length === 1) return only.value;
  if (alike.length > 1)
    return `${shown(name)} is any of ${list(alike.map((each) => each.name))}: write it in quotes`;
  return `the row has no column ${shown(name)}, only ${list(row.map((column) => column.name))}`;
}

function list(names: readonly string[]): string {
  if (names.length === 0) return "none at all";
  const more = names.length > MAX_NAMES ? `, … (${names.length})` : "";
  return names.slice(0, MAX_NAMES).map(shown).join(", ") + more;
}

function shown(name: string): string {
  const short = name.length > 64 ? `${name.slice(0, 64).toWellFormed()}…` : name;
  return isPlainName(short) ? short : quoteName(short);
}

const TYPE_NAMES: Readonly<Record<Value["kind"], string>> = {
  null: "NULL",
  boolean: "boolean",
  number: "number",
  text: "text",
  json: "JSON",
};

function describe(operand: Operand, value: Value): string {
  const type = TYPE_NAMES[value.kind];
  return operand.kind === "column" ? `${shown(operand.name)} (${type})` : `a ${type} value`;
}

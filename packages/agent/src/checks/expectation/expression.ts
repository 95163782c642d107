import { clip } from "../clip.ts";
import type { Value } from "../values/row.ts";
import { isKeyword } from "./tokens.ts";

export interface ColumnName {
  readonly kind: "column";
  readonly name: string;
  /** Written in double quotes: it then matches in its exact case only. */
  readonly isQuoted: boolean;
}

/** `age(column)`: how long ago the moment was that the column holds. */
export interface Age {
  readonly kind: "age";
  readonly column: ColumnName;
}

/** `26h`, `1d12h`: what ages compare with. */
export interface Duration {
  readonly kind: "duration";
  readonly seconds: number;
  readonly text: string;
}

export type Literal = Extract<Value, { readonly kind: "boolean" | "number" | "text" }>;
export type Operand = ColumnName | Literal | Age | Duration;

export type Operator = "=" | "!=" | "<" | "<=" | ">" | ">=";

/** `is not null`, `not between` and `not in` are a `not` around the plain form. */
export type Expression =
  | { readonly kind: "and" | "or"; readonly terms: readonly Expression[] }
  | { readonly kind: "not"; readonly term: Expression }
  | {
      readonly kind: "comparison";
      readonly operator: Operator;
      readonly left: Operand;
      readonly right: Operand;
    }
  | { readonly kind: "between"; readonly operand: Operand; readonly low: Operand; readonly high: Operand }
  | { readonly kind: "in"; readonly operand: Operand; readonly list: readonly Operand[] }
  /** The whole text. */
  | { readonly kind: "matches"; readonly column: ColumnName; readonly pattern: string }
  | { readonly kind: "isNull"; readonly column: ColumnName }
  /** A boolean column by itself. */
  | { readonly kind: "truth"; readonly column: ColumnName };

/** Text that `parseExpectation` reads as the same expression. */
export function printExpectation(expression: Expression): string {
  switch (expression.kind) {
    case "and":
    case "or":
      return expression.terms.map(printTerm).join(` ${expression.kind} `);
    case "not":
      return `not ${printTerm(expression.term)}`;
    case "comparison":
      return `${printOperand(expression.left)} ${expression.operator} ${printOperand(expression.right)}`;
    case "between":
      return `${printOperand(expression.operand)} between ${printOperand(expression.low)} and ${printOperand(expression.high)}`;
    case "in":
      return `${printOperand(expression.operand)} in (${expression.list.map(printOperand).join(", ")})`;
    case "matches":
      return `${printOperand(expression.column)} matches ${quoteText(expression.pattern)}`;
    case "isNull":
      return `${printOperand(expression.column)} is null`;
    case "truth":
      return printOperand(expression.column);
  }
}

function printTerm(term: Expression): string {
  const text = printExpectation(term);
  return term.kind === "and" || term.kind === "or" ? `(${text})` : text;
}

function printOperand(operand: Operand): string {
  switch (operand.kind) {
    case "column":
      return operand.isQuoted ? quoteName(operand.name) : operand.name;
    case "number":
    case "duration":
      return operand.text;
    case "age":
      return `age(${printOperand(operand.column)})`;
    case "text":
      return quoteText(operand.value);
    case "boolean":
      return String(operand.value);
  }
}

export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A column's name as an expectation writes it, bounded. */
export function printName(name: string): string {
  const short = clip(name, 64);
  const isPlain = /^[\p{L}_][\p{L}\p{M}\p{N}_$]*$/u.test(short) && !isKeyword(short.toLowerCase());
  return isPlain ? short : quoteName(short);
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

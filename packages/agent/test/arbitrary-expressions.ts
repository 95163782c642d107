import fc from "fast-check";
import { parseDecimal } from "../src/checks/values/decimal.ts";
import type {
  ColumnName,
  Expression,
  Literal,
  Operand,
  Operator,
} from "../src/checks/expectation/expression.ts";

const OPERATORS: readonly Operator[] = ["=", "!=", "<", "<=", ">", ">="];

/** Well-formed, with anything in it that SQL has to quote. */
export const anyText = fc.string({ unit: "binary", maxLength: 12 });

export function column(name: string, isQuoted = false): ColumnName {
  return { kind: "column", name, isQuoted };
}

export function number(text: string): Literal {
  const value = parseDecimal(text);
  if (value === null) throw new TypeError(`${text} is not a number`);
  return { kind: "number", value, text };
}

/**
 * Expressions whose comparisons have a column of `columns` on the left and any such column or a
 * literal on the right.
 */
export function expressions(
  columns: fc.Arbitrary<ColumnName>,
  literals: fc.Arbitrary<Literal>,
): fc.Arbitrary<Expression> {
  const operand: fc.Arbitrary<Operand> = fc.oneof(columns, literals);
  const leaf: fc.Arbitrary<Expression> = fc.oneof(
    fc.record({
      kind: fc.constant("comparison" as const),
      operator: fc.constantFrom(...OPERATORS),
      left: columns,
      right: operand,
    }),
    fc.record({ kind: fc.constant("between" as const), operand: columns, low: operand, high: operand }),
    fc.record({
      kind: fc.constant("in" as const),
      operand: columns,
      list: fc.array(operand, { minLength: 1, maxLength: 4 }),
    }),
    fc.record({ kind: fc.constant("isNull" as const), column: columns }),
  );
  return compounds(leaf);
}

/** `and`, `or` and `not` over leaves. */
export function compounds(leaf: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> {
  return fc.letrec<{ any: Expression }>((tie) => ({
    any: fc.oneof(
      { depthSize: "small", maxDepth: 6, withCrossShrink: true },
      leaf,
      fc.record({
        kind: fc.constantFrom("and" as const, "or" as const),
        terms: fc.array(tie("any"), { minLength: 2, maxLength: 4 }),
      }),
      fc.record({ kind: fc.constant("not" as const), term: tie("any") }),
    ),
  })).any;
}

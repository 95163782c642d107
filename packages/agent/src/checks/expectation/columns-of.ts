import type { Expression, Operand } from "./expression.ts";

/** The names of the columns in an expectation, in lower case. */
export function columnsOf(expression: Expression): ReadonlySet<string> {
  switch (expression.kind) {
    case "and":
    case "or":
      return new Set(expression.terms.flatMap((term) => [...columnsOf(term)]));
    case "not":
      return columnsOf(expression.term);
    case "comparison":
      return ofOperands([expression.left, expression.right]);
    case "between":
      return ofOperands([expression.operand, expression.low, expression.high]);
    case "in":
      return ofOperands([expression.operand, ...expression.list]);
    case "matches":
    case "isNull":
    case "truth":
      return ofOperands([expression.column]);
  }
}

function ofOperands(operands: readonly Operand[]): ReadonlySet<string> {
  return new Set(
    operands.flatMap((operand) => {
      if (operand.kind === "column") return [operand.name.toLowerCase()];
      return operand.kind === "age" ? [operand.column.name.toLowerCase()] : [];
    }),
  );
}

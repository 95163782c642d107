import { parseDecimal } from "../values/decimal.ts";
import { ExpectationError } from "./expectation-error.ts";
import type { ColumnName, Expression, Operand, Operator } from "./expression.ts";
import { PatternError } from "../pattern/pattern-error.ts";
import { Pattern } from "../pattern/pattern.ts";
import { type Keyword, type Token, tokenize } from "./tokens.ts";

export const MAX_EXPECTATION = 4096;
const MAX_DEPTH = 64;
const OPERATORS: Readonly<Record<string, Operator>> = {
  "=": "=",
  "==": "=",
  "!=": "!=",
  "<>": "!=",
  "<": "<",
  "<=": "<=",
  ">": ">",
  ">=": ">=",
};

/**
 * An expectation over the columns of one row: `n >= 1000 and newest is not null`.
 *
 * or < and < not < `=` `==` `!=` `<>` `<` `<=` `>` `>=`, `[not] between A and B`, `[not] in (A,
 * …)`, `[not] matches 'pattern'`, `is [not] null`. `age(column)` compares with durations:
 * `age(newest) < 26h`. Other operands are columns (`n`, in any case, or `"count(*)"`, exactly),
 * numbers, 'text', true and false; a boolean column may stand by itself. Each comparison names a
 * column: what holds whatever the data is no check.
 * @throws ExpectationError
 */
export function parseExpectation(text: string): Expression {
  if (text.length > MAX_EXPECTATION) {
    const most = `at most ${MAX_EXPECTATION} characters`;
    throw new ExpectationError("expectation_too_long", MAX_EXPECTATION, most, String(text.length));
  }
  if (!text.isWellFormed()) {
    const position = text
      .toWellFormed()
      .split("")
      .findIndex((unit, i) => unit !== text.charAt(i));
    throw new ExpectationError("expectation_malformed", position, "Unicode text", "a lone surrogate");
  }
  return new Parser(tokenize(text)).whole();
}

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): Expression {
    const expression = this.#or();
    if (this.#peek().kind !== "end") this.#fail("`and`, `or` or the end");
    return expression;
  }

  #or(): Expression {
    return this.#chain("or", () => this.#chain("and", () => this.#not()));
  }

  #chain(keyword: "and" | "or", term: () => Expression): Expression {
    const first = term();
    const terms = [first];
    while (this.#takeKeyword(keyword)) terms.push(term());
    return terms.length === 1 ? first : { kind: keyword, terms };
  }

  #not(): Expression {
    if (!this.#takeKeyword("not")) return this.#predicate();
    return this.#nested(() => ({ kind: "not", term: this.#not() }));
  }

  #predicate(): Expression {
    if (this.#takeSymbol("(")) {
      return this.#nested(() => {
        const inner = this.#or();
        if (!this.#takeSymbol(")")) this.#fail("`and`, `or` or `)`");
        return inner;
      });
    }
    const at = this.#peek();
    const operand = this.#operand();
    const predicate = this.#tail(operand);
    if (!namesColumn(predicate)) {
      const expected = "a column on one side";
      throw new ExpectationError("expectation_constant", at.position, expected, "constants only");
    }
    return predicate;
  }

  #tail(operand: Operand): Expression {
    const symbol = this.#peek();
    const operator = symbol.kind === "symbol" ? OPERATORS[symbol.source] : undefined;
    if (operator !== undefined) return this.#comparison(operand, operator);
    if (this.#takeKeyword("is")) return this.#isNull(operand);
    if (this.#takeKeyword("not")) {
      if (this.#isMatches()) return { kind: "not", term: this.#matches(operand) };
      const isRange = this.#isKeyword("between") || this.#isKeyword("in");
      if (!isRange) this.#fail("`between`, `in` or `matches`");
      return { kind: "not", term: this.#range(operand) };
    }
    if (this.#isMatches()) return this.#matches(operand);
    if (this.#isKeyword("between") || this.#isKeyword("in")) return this.#range(operand);
    if (operand.kind === "column") return { kind: "truth", column: operand };
    return this.#fail(
      operand.kind === "age" ? "a comparison with a duration, such as `< 26h`" : "a comparison, such as `>=`",
    );
  }

  #comparison(left: Operand, operator: Operator): Expression {
    const isOrdering = operator !== "=" && operator !== "!=";
    if (isOrdering && left.kind === "boolean") this.#fail("`=` or `!=` after a boolean");
    this.#next++;
    if (isOrdering && operandOf(this.#peek())?.kind === "boolean") this.#fail("a value that has an order");
    return { kind: "comparison", operator, left, right: this.#operandLike(left) };
  }

  /** Ages and durations compare with each other only. */
  #operandLike(other: Operand): Operand {
    const at = this.#peek();
    const operand = this.#operand();
    if (isTime(other) === isTime(operand)) return operand;
    const found = at.kind === "end" ? "the end" : `\`${at.source.slice(0, 20)}\``;
    const expected = isTime(other)
      ? "a duration such as `26h`, or age(column)"
      : "a value, for only age(column) compares with durations";
    throw new ExpectationError("expectation_malformed", at.position, expected, found);
  }

  #isMatches(): boolean {
    const token = this.#peek();
    return token.kind === "identifier" && !token.isQuoted && token.name.toLowerCase() === "matches";
  }

  #matches(operand: Operand): Expression {
    if (operand.kind !== "column") {
      const { position } = this.#peek();
      throw new ExpectationError("expectation_constant", position, "a column before `matches`", "a value");
    }
    this.#next++;
    const token = this.#peek();
    if (token.kind !== "text") return this.#fail("a pattern in single quotes");
    refusePattern(token);
    this.#next++;
    return { kind: "matches", column: operand, pattern: token.value };
  }

  #isNull(operand: Operand): Expression {
    const isNegated = this.#takeKeyword("not");
    if (!this.#takeKeyword("null")) this.#fail(isNegated ? "`null`" : "`null` or `not null`");
    const column: ColumnName = operand.kind === "column" ? operand : this.#constant();
    return isNegated ? { kind: "not", term: { kind: "isNull", column } } : { kind: "isNull", column };
  }

  #range(operand: Operand): Expression {
    if (this.#takeKeyword("between")) {
      const low = this.#operandLike(operand);
      if (!this.#takeKeyword("and")) this.#fail("`and` and the upper end");
      return { kind: "between", operand, low, high: this.#operandLike(operand) };
    }
    if (isTime(operand)) this.#fail("`between`: an age is never exactly another");
    this.#next++;
    if (!this.#takeSymbol("(")) this.#fail("`(`");
    const list = [this.#operandLike(operand)];
    while (this.#takeSymbol(",")) list.push(this.#operandLike(operand));
    if (!this.#takeSymbol(")")) this.#fail("`,` or `)`");
    return { kind: "in", operand, list };
  }

  #operand(): Operand {
    const token = this.#peek();
    if (isAge(token) && this.#peek(1).source === "(") return this.#age();
    const operand = operandOf(token);
    if (operand === null) {
      const isNull = token.kind === "keyword" && token.keyword === "null";
      this.#fail(isNull ? "a value (NULL is asked for by `is null`)" : "a column or a value");
    }
    this.#next++;
    return operand;
  }

  #age(): Operand {
    this.#next += 2;
    const operand = operandOf(this.#peek());
    if (operand?.kind !== "column") return this.#fail("a column with a time");
    this.#next++;
    if (!this.#takeSymbol(")")) this.#fail("`)`");
    return { kind: "age", column: operand };
  }

  #nested(inner: () => Expression): Expression {
    if (++this.#depth > MAX_DEPTH) {
      const most = `at most ${MAX_DEPTH} levels of ( and not`;
      throw new ExpectationError("expectation_too_deep", this.#peek().position, most, "one more");
    }
    const expression = inner();
    this.#depth--;
    return expression;
  }

  #peek(ahead = 0): Token {
    const token = this.#tokens[this.#next + ahead] ?? this.#tokens.at(-1);
    if (token === undefined) throw new TypeError("a token list ends in its end");
    return token;
  }

  #isKeyword(keyword: Keyword): boolean {
    const token = this.#peek();
    return token.kind === "keyword" && token.keyword === keyword;
  }

  #takeKeyword(keyword: Keyword): boolean {
    const isThere = this.#isKeyword(keyword);
    if (isThere) this.#next++;
    return isThere;
  }

  #takeSymbol(symbol: string): boolean {
    const token = this.#peek();
    const isThere = token.kind === "symbol" && token.source === symbol;
    if (isThere) this.#next++;
    return isThere;
  }

  #constant(): never {
    const { position } = this.#peek();
    throw new ExpectationError("expectation_constant", position, "a column before `is`", "a constant");
  }

  #fail(expected: string): never {
    const { position, kind, source } = this.#peek();
    const found = kind === "end" ? "the end" : `\`${source.slice(0, 20)}\``;
    throw new ExpectationError("expectation_malformed", position, expected, found);
  }
}

function operandOf(token: Token): Operand | null {
  switch (token.kind) {
    case "identifier":
      return { kind: "column", name: token.name, isQuoted: token.isQuoted };
    case "text":
      return { kind: "text", value: token.value };
    case "number": {
      const value = parseDecimal(token.source);
      return value === null ? null : { kind: "number", value, text: token.source };
    }
    case "keyword": {
      const isLiteral = token.keyword === "true" || token.keyword === "false";
      return isLiteral ? { kind: "boolean", value: token.keyword === "true" } : null;
    }
    case "duration":
      return { kind: "duration", seconds: token.seconds, text: token.source };
    case "symbol":
    case "end":
      return null;
  }
}

function isAge(token: Token): boolean {
  return token.kind === "identifier" && !token.isQuoted && token.name.toLowerCase() === "age";
}

function isTime(operand: Operand): boolean {
  return operand.kind === "age" || operand.kind === "duration";
}

/**
 * Says where in the expression a pattern's mistake is: after the quote, and a quote within is
 * written twice.
 */
function refusePattern({ value, position }: Token & { readonly kind: "text" }): void {
  try {
    Pattern.parse(value);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const quotesBefore = value.slice(0, error.position).split("'").length - 1;
    const at = position + 1 + error.position + quotesBefore;
    throw new ExpectationError("expectation_malformed", at, error.expected, error.found);
  }
}

/** A comparison of constants only holds, or does not, whatever the data. */
function namesColumn(predicate: Expression): boolean {
  switch (predicate.kind) {
    case "comparison":
      return isColumn(predicate.left) || isColumn(predicate.right);
    case "between":
      return [predicate.operand, predicate.low, predicate.high].some(isColumn);
    case "in":
      return [predicate.operand, ...predicate.list].some(isColumn);
    case "not":
      return namesColumn(predicate.term);
    case "matches":
    case "isNull":
    case "truth":
      return true;
    case "and":
    case "or":
      return predicate.terms.every(namesColumn);
  }
}

function isColumn(operand: Operand): boolean {
  return operand.kind === "column" || operand.kind === "age";
}

import type { Decimal } from "./decimal.ts";
import { ExpectationError, type Keyword, type Operator, type Token, tokenize } from "./expectation-tokens.ts";

export type Operand =
  | { readonly kind: "column"; readonly name: string }
  | { readonly kind: "literal"; readonly value: Decimal | string | boolean | null };

export type Expectation =
  | { readonly kind: "and" | "or"; readonly left: Expectation; readonly right: Expectation }
  | { readonly kind: "not"; readonly inner: Expectation }
  | { readonly kind: "compare"; readonly operator: Operator; readonly left: Operand; readonly right: Operand }
  | { readonly kind: "between"; readonly operand: Operand; readonly low: Operand; readonly high: Operand }
  | { readonly kind: "is_null"; readonly operand: Operand }
  | { readonly kind: "truth"; readonly operand: Operand };

const MAX_DEPTH = 32;

/**
 * An `expect` expression over one row's columns:
 *
 *     or      = and { "or" and }
 *     and     = not { "and" not }
 *     not     = "not" not | "(" or ")" | test
 *     test    = operand [ compare operand | [ "not" ] "between" operand "and" operand | "is" [ "not" ] "null" ]
 *     compare = "=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">="
 *     operand = column | "column" | number | 'text' | true | false | null
 *
 * Numbers are exact decimals. A NULL satisfies nothing but `is null`, as in SQL.
 * @throws ExpectationError
 */
export function parseExpectation(source: string): Expectation {
  const parser = new Parser(tokenize(source));
  const expectation = parser.or(0);
  parser.end();
  return expectation;
}

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  or(depth: number): Expectation {
    let left = this.#and(depth);
    while (this.#takeKeyword("or")) left = { kind: "or", left, right: this.#and(depth) };
    return left;
  }

  end(): void {
    const token = this.#peek();
    if (token.kind === "operator")
      throw new ExpectationError(token.at, "comparisons do not chain: write `a < b and b < c`, or between");
    if (token.kind !== "end") throw new ExpectationError(token.at, "expected and, or, or the end");
  }

  #and(depth: number): Expectation {
    let left = this.#not(depth);
    while (this.#takeKeyword("and")) left = { kind: "and", left, right: this.#not(depth) };
    return left;
  }

  #not(depth: number): Expectation {
    const { at, kind } = this.#peek();
    if (depth >= MAX_DEPTH) throw new ExpectationError(at, `nested more than ${MAX_DEPTH} deep`);
    if (this.#takeKeyword("not")) return { kind: "not", inner: this.#not(depth + 1) };
    if (kind !== "open") return this.#test();
    this.#next += 1;
    const inner = this.or(depth + 1);
    const close = this.#peek();
    if (close.kind !== "close") throw new ExpectationError(close.at, "expected )");
    this.#next += 1;
    return inner;
  }

  #test(): Expectation {
    const operand = this.#operand();
    const token = this.#peek();
    if (token.kind === "operator") {
      this.#next += 1;
      return { kind: "compare", operator: token.operator, left: operand, right: this.#operand() };
    }
    if (this.#takeKeyword("is")) {
      const negated = this.#takeKeyword("not");
      this.#expectKeyword("null");
      return negate(negated, { kind: "is_null", operand });
    }
    const negated = this.#takeKeyword("not");
    if (!negated && !this.#isKeyword("between")) return this.#truth(operand, token.at);
    this.#expectKeyword("between");
    const low = this.#operand();
    this.#expectKeyword("and");
    return negate(negated, { kind: "between", operand, low, high: this.#operand() });
  }

  #truth(operand: Operand, at: number): Expectation {
    if (operand.kind === "literal" && typeof operand.value !== "boolean") {
      throw new ExpectationError(at, "expected a comparison");
    }
    return { kind: "truth", operand };
  }

  #operand(): Operand {
    const token = this.#peek();
    this.#next += 1;
    switch (token.kind) {
      case "name":
        return { kind: "column", name: token.name };
      case "number":
      case "text":
        return { kind: "literal", value: token.value };
      case "keyword":
        if (token.keyword === "true" || token.keyword === "false")
          return { kind: "literal", value: token.keyword === "true" };
        if (token.keyword === "null") return { kind: "literal", value: null };
        break;
      case "operator":
      case "open":
      case "close":
      case "end":
    }
    throw new ExpectationError(token.at, "expected a column, a number or a 'text'");
  }

  #peek(): Token {
    const token = this.#tokens[Math.min(this.#next, this.#tokens.length - 1)];
    if (token === undefined) throw new Error("a list of tokens always ends in one");
    return token;
  }

  #isKeyword(keyword: Keyword): boolean {
    const token = this.#peek();
    return token.kind === "keyword" && token.keyword === keyword;
  }

  #takeKeyword(keyword: Keyword): boolean {
    if (!this.#isKeyword(keyword)) return false;
    this.#next += 1;
    return true;
  }

  #expectKeyword(keyword: Keyword): void {
    if (!this.#takeKeyword(keyword)) throw new ExpectationError(this.#peek().at, `expected ${keyword}`);
  }
}

function negate(negated: boolean, inner: Expectation): Expectation {
  return negated ? { kind: "not", inner } : inner;
}

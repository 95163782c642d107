import { Decimal } from "./decimal.ts";

export type Operator = "=" | "!=" | "<" | "<=" | ">" | ">=";
export type Keyword = "and" | "or" | "not" | "between" | "is" | "null" | "true" | "false";

export type Token = { readonly at: number } & (
  | { readonly kind: "number"; readonly value: Decimal }
  | { readonly kind: "text"; readonly value: string }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "keyword"; readonly keyword: Keyword }
  | { readonly kind: "operator"; readonly operator: Operator }
  | { readonly kind: "open" | "close" | "end" }
);

/** The expression is not one. `position` counts characters from 1. */
export class ExpectationError extends Error {
  readonly code = "expectation_invalid";
  readonly position: number;
  constructor(at: number, message: string) {
    super(`at character ${at + 1}: ${message}`);
    this.name = "ExpectationError";
    this.position = at + 1;
  }
}

const MAX_TOKENS = 256;
const KEYWORDS: ReadonlySet<string> = new Set<Keyword>([
  "and",
  "or",
  "not",
  "between",
  "is",
  "null",
  "true",
  "false",
]);
const OPERATORS: ReadonlyMap<string, Operator> = new Map([
  ["=", "="],
  ["==", "="],
  ["!=", "!="],
  ["<>", "!="],
  ["<", "<"],
  ["<=", "<="],
  [">", ">"],
  [">=", ">="],
]);

const SPACE = /\s+/y;
const NUMBER = /[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?/y;
const WORD = /[\p{L}_][\p{L}\p{N}_$]*/uy;
const QUOTED_NAME = /"((?:[^"]|"")*)"/y;
const TEXT = /'((?:[^']|'')*)'/y;
const OPERATOR = /==|!=|<>|<=|>=|=|<|>/y;

/** @throws ExpectationError */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(source);
  };
  for (;;) {
    at += match(SPACE)?.[0].length ?? 0;
    if (at >= source.length) break;
    if (tokens.length >= MAX_TOKENS)
      throw new ExpectationError(at, `longer than ${MAX_TOKENS} words and signs`);
    const [token, length] = next(source, at, match);
    tokens.push(token);
    at += length;
  }
  tokens.push({ kind: "end", at });
  return tokens;
}

function next(
  source: string,
  at: number,
  match: (pattern: RegExp) => RegExpExecArray | null,
): [Token, number] {
  const character = source[at];
  if (character === "(") return [{ kind: "open", at }, 1];
  if (character === ")") return [{ kind: "close", at }, 1];

  const number = match(NUMBER);
  if (number !== null) {
    const value = Decimal.parse(number[0]);
    const follower = source[at + number[0].length] ?? "";
    if (value === null) throw new ExpectationError(at, `${number[0].slice(0, 20)} is too large a number`);
    if (/[\p{L}\p{N}_.]/u.test(follower))
      throw new ExpectationError(at, "a number runs into what follows it");
    return [{ kind: "number", value, at }, number[0].length];
  }
  const word = match(WORD);
  if (word !== null) {
    const lower = word[0].toLowerCase();
    return [
      isKeyword(lower) ? { kind: "keyword", keyword: lower, at } : { kind: "name", name: word[0], at },
      word[0].length,
    ];
  }
  const operatorText = match(OPERATOR)?.[0];
  const operator = operatorText === undefined ? undefined : OPERATORS.get(operatorText);
  if (operator !== undefined && operatorText !== undefined)
    return [{ kind: "operator", operator, at }, operatorText.length];

  const quoted = match(QUOTED_NAME);
  if (quoted?.[1] !== undefined)
    return [{ kind: "name", name: quoted[1].replaceAll('""', '"'), at }, quoted[0].length];
  const text = match(TEXT);
  if (text?.[1] !== undefined)
    return [{ kind: "text", value: text[1].replaceAll("''", "'"), at }, text[0].length];
  if (character === '"' || character === "'")
    throw new ExpectationError(at, `the ${character} is not closed`);
  throw new ExpectationError(at, `"${String.fromCodePoint(source.codePointAt(at) ?? 0)}" means nothing here`);
}

function isKeyword(word: string): word is Keyword {
  return KEYWORDS.has(word);
}

import { ExpectationError } from "./expectation-error.ts";

const KEYWORDS = ["and", "or", "not", "between", "in", "is", "null", "true", "false"] as const;
export type Keyword = (typeof KEYWORDS)[number];

/** In lower case. */
export function isKeyword(word: string): word is Keyword {
  return (KEYWORDS as readonly string[]).includes(word);
}

export type Token = {
  readonly position: number;
  /** As written. */
  readonly source: string;
} & (
  | { readonly kind: "keyword"; readonly keyword: Keyword }
  | { readonly kind: "identifier"; readonly name: string; readonly isQuoted: boolean }
  | { readonly kind: "number" }
  /** Whole seconds. */
  | { readonly kind: "duration"; readonly seconds: number }
  | { readonly kind: "text"; readonly value: string }
  | { readonly kind: "symbol" }
  | { readonly kind: "end" }
);

const SPACE = /[ \t\r\n]+/y;
const WORD = /[\p{L}_][\p{L}\p{M}\p{N}_$]*/uy;
const NUMBER = /-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,9})?/y;
const DURATION = /(?:\d{1,9}[wdhms])+/y;
const QUOTED_NAME = /"[^"]*(?:""[^"]*)*"/y;
const TEXT = /'[^']*(?:''[^']*)*'/y;
const SYMBOL = /<=|>=|<>|!=|==|[=<>(),]/y;
const NAME_PART = /[\p{L}\p{M}\p{N}_$.]/uy;

/** @throws ExpectationError */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let position = 0;
  const match = (pattern: RegExp): string | null => {
    pattern.lastIndex = position;
    return pattern.exec(text)?.[0] ?? null;
  };
  const add = (token: Token): void => {
    tokens.push(token);
    position += token.source.length;
  };
  for (;;) {
    position += match(SPACE)?.length ?? 0;
    if (position >= text.length) return [...tokens, { kind: "end", position, source: "" }];
    const at = { position };
    let source: string | null;
    if ((source = match(WORD)) !== null) add({ ...at, source, ...word(source) });
    else if ((source = match(DURATION)) !== null) {
      add({ ...at, source, kind: "duration", seconds: secondsOf(source) });
      if (match(NAME_PART) !== null)
        malformed(at.position, "a duration such as `26h` or `1d12h`", quote(text, at.position));
    } else if ((source = match(NUMBER)) !== null) {
      add({ ...at, source, kind: "number" });
      // `10x`, `1.2.3` and `1e`: not a number and then a name.
      if (match(NAME_PART) !== null) malformed(at.position, "a number", quote(text, at.position));
    } else if ((source = match(QUOTED_NAME)) !== null && source.length > 2) {
      const name = source.slice(1, -1).replaceAll('""', '"');
      add({ ...at, source, kind: "identifier", name, isQuoted: true });
    } else if ((source = match(TEXT)) !== null) {
      add({ ...at, source, kind: "text", value: source.slice(1, -1).replaceAll("''", "'") });
    } else if ((source = match(SYMBOL)) !== null) add({ ...at, source, kind: "symbol" });
    else malformed(position, wanted(text.charAt(position)), quote(text, position));
  }
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

function secondsOf(source: string): number {
  let seconds = 0;
  for (const [, count = "", unit = ""] of source.matchAll(/(\d+)([wdhms])/g))
    seconds += Number(count) * (SECONDS[unit] ?? 0);
  return seconds;
}

function word(source: string) {
  const lower = source.toLowerCase();
  if (isKeyword(lower)) return { kind: "keyword", keyword: lower } as const;
  return { kind: "identifier", name: source, isQuoted: false } as const;
}

function wanted(character: string): string {
  if (character === "'") return "a text that ends in '";
  if (character === '"') return 'a column name that ends in "';
  return "a column, a value or an operator";
}

function quote(text: string, position: number): string {
  const [piece] = /^[^\s\p{C}]{1,20}/u.exec(text.slice(position)) ?? [];
  if (piece !== undefined) return `\`${piece}\``;
  return `U+${(text.codePointAt(position) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

function malformed(position: number, expected: string, found: string): never {
  throw new ExpectationError("expectation_malformed", position, expected, found);
}

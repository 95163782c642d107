import { ANY, type CharSet, complement, DIGITS, SPACE, WORD } from "./char-set.ts";
import { PatternError } from "./pattern-error.ts";

export type PatternNode =
  | { readonly kind: "set"; readonly set: CharSet }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly PatternNode[] }
  /** `max` null: without end. */
  | {
      readonly kind: "repeat";
      readonly part: PatternNode;
      readonly min: number;
      readonly max: number | null;
    };

const MAX_DEPTH = 32;
export const MAX_REPEAT = 1_000;
const CLASSES: Readonly<Record<string, CharSet>> = {
  d: DIGITS,
  D: complement(DIGITS),
  w: WORD,
  W: complement(WORD),
  s: SPACE,
  S: complement(SPACE),
};
const CONTROLS: Readonly<Record<string, number>> = { n: 0x0a, r: 0x0d, t: 0x09 };

/**
 * The part of RE2's syntax with which a whole text can be matched in time proportional to its
 * length: characters, `.`, `[a-z]`, `[^a-z]`, `\d \w \s \D \W \S`, `( )`, `(?: )`, `|`, `*`, `+`,
 * `?`, `{2}`, `{2,}`, `{2,5}`. No back-references, no look-around, and no anchors, because a
 * pattern matches the whole text anyway.
 * @throws PatternError
 */
export function parsePattern(source: string): PatternNode {
  return new PatternParser(source).whole();
}

class PatternParser {
  readonly #characters: readonly { readonly text: string; readonly position: number }[];
  #next = 0;
  #depth = 0;

  constructor(source: string) {
    let position = 0;
    this.#characters = Array.from(source, (text) => {
      const at = position;
      position += text.length;
      return { text, position: at };
    });
  }

  whole(): PatternNode {
    const node = this.#choice();
    if (this.#peek() !== null) this.#fail("the end, or `(` before this `)`");
    return node;
  }

  #choice(): PatternNode {
    const parts = [this.#sequence()];
    while (this.#take("|")) parts.push(this.#sequence());
    return parts.length === 1 ? (parts[0] as PatternNode) : { kind: "choice", parts };
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = [];
    for (let next = this.#peek(); next !== null && next !== "|" && next !== ")"; next = this.#peek())
      parts.push(this.#repeated());
    return { kind: "sequence", parts };
  }

  #repeated(): PatternNode {
    const part = this.#atom();
    const bounds = this.#quantifier();
    if (bounds === null) return part;
    if (["*", "+", "?", "{"].includes(this.#peek() ?? ""))
      this.#fail("no second quantifier (each already takes as much as the whole match needs)");
    return { kind: "repeat", part, ...bounds };
  }

  #quantifier(): { min: number; max: number | null } | null {
    if (this.#take("*")) return { min: 0, max: null };
    if (this.#take("+")) return { min: 1, max: null };
    if (this.#take("?")) return { min: 0, max: 1 };
    if (!this.#take("{")) return null;
    const at = this.#next;
    const min = this.#count();
    const max = this.#take(",") ? (this.#peek() === "}" ? null : this.#count()) : min;
    if (!this.#take("}")) this.#fail("`}`");
    if (max !== null && max < min) {
      this.#next = at;
      this.#fail("a range that goes up");
    }
    return { min, max };
  }

  #count(): number {
    const at = this.#next;
    let digits = "";
    for (let next = this.#peek(); next !== null && /^[0-9]$/.test(next); next = this.#peek()) {
      digits += next;
      this.#next++;
    }
    if (digits !== "" && digits.length < 5 && Number(digits) <= MAX_REPEAT) return Number(digits);
    this.#next = at;
    return this.#fail(`a number up to ${MAX_REPEAT} (write \\{ for the character)`);
  }

  #atom(): PatternNode {
    const next = this.#peek();
    switch (next) {
      case "(":
        return this.#group();
      case "[":
        return { kind: "set", set: this.#class() };
      case ".":
        this.#next++;
        return { kind: "set", set: ANY };
      case "\\":
        return { kind: "set", set: this.#escape() };
      case "^":
      case "$":
        return this.#fail("no anchor: the whole text has to match (add .* where other text may stand)");
      case "*":
      case "+":
      case "?":
      case "{":
        return this.#fail("something to repeat before it");
      case null:
        return this.#fail("a character");
      default:
        this.#next++;
        return { kind: "set", set: single(next) };
    }
  }

  #group(): PatternNode {
    if (++this.#depth > MAX_DEPTH) this.#fail(`at most ${MAX_DEPTH} levels of (`);
    this.#next++;
    if (this.#take("?") && !this.#take(":"))
      this.#fail("`:` after `(?`: there is no look-around, and there are no flags and names");
    const node = this.#choice();
    if (!this.#take(")")) this.#fail("`)`");
    this.#depth--;
    return node;
  }

  #class(): CharSet {
    this.#next++;
    const isNegated = this.#take("^");
    const set: [number, number][] = [];
    while (!this.#take("]")) {
      const from = this.#member();
      const [first] = from;
      if (this.#peek() !== "-" || this.#peek(1) === "]") {
        for (const [low, high] of from) set.push([low, high]);
        continue;
      }
      this.#next++;
      const at = this.#next;
      const to = this.#member();
      const [last] = to;
      const isRange = isSingle(from) && isSingle(to) && first !== undefined && last !== undefined;
      if (!isRange || last[0] < first[0]) {
        this.#next = at;
        this.#fail("a character that comes after the range's first");
      }
      set.push([first[0], last[0]]);
    }
    if (set.length === 0) this.#fail("a character in the [ ] before");
    return isNegated ? complement(set) : set;
  }

  #member(): CharSet {
    const next = this.#peek();
    if (next === null) return this.#fail("`]`");
    if (next === "[") return this.#fail("\\[ for the character: classes such as [:alpha:] are not known");
    if (next === "\\") return this.#escape();
    this.#next++;
    return single(next);
  }

  #escape(): CharSet {
    this.#next++;
    const next = this.#peek();
    if (next === null) return this.#fail("a character after \\");
    const named = Object.hasOwn(CLASSES, next) ? CLASSES[next] : undefined;
    const control = Object.hasOwn(CONTROLS, next) ? CONTROLS[next] : undefined;
    if (named === undefined && control === undefined && /^[\p{L}\p{N}]$/u.test(next))
      this.#fail("one of d D w W s S n r t, or a sign, after \\");
    this.#next++;
    return named ?? (control === undefined ? single(next) : [[control, control]]);
  }

  #peek(ahead = 0): string | null {
    return this.#characters[this.#next + ahead]?.text ?? null;
  }

  #take(character: string): boolean {
    const isThere = this.#peek() === character;
    if (isThere) this.#next++;
    return isThere;
  }

  #fail(expected: string): never {
    const at = this.#characters[this.#next];
    const last = this.#characters.at(-1);
    const end = last === undefined ? 0 : last.position + last.text.length;
    throw new PatternError(
      at?.position ?? end,
      expected,
      at === undefined ? "the pattern's end" : `\`${at.text}\``,
    );
  }
}

function single(character: string): CharSet {
  const code = character.codePointAt(0) ?? 0;
  return [[code, code]];
}

function isSingle(set: CharSet): boolean {
  const [first] = set;
  return set.length === 1 && first !== undefined && first[0] === first[1];
}

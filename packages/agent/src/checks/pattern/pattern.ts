import { type CharSet, contains } from "./char-set.ts";
import { PatternError } from "./pattern-error.ts";
import { parsePattern, type PatternNode } from "./parse-pattern.ts";

/** A step takes a character, tries both of two ways, or is the end. */
type Step =
  | { readonly kind: "set"; readonly set: CharSet; readonly next: number }
  | { readonly kind: "fork"; readonly first: number; readonly second: number }
  | { readonly kind: "end" };

const END = 0;
export const MAX_STEPS = 1_000;
/** Characters that a text may have to be held against a pattern. */
export const MAX_MATCHED = 4_096;

/**
 * A pattern, ready to match texts: follows all ways through it at once, a character at a time
 * (Thompson, 1968), so that no text takes longer than its length times the pattern's.
 */
export class Pattern {
  readonly source: string;
  readonly #steps: readonly Step[];
  readonly #start: number;

  private constructor(source: string, steps: readonly Step[], start: number) {
    this.source = source;
    this.#steps = steps;
    this.#start = start;
  }

  /** @throws PatternError */
  static parse(source: string): Pattern {
    const steps: Step[] = [{ kind: "end" }];
    const start = compile(parsePattern(source), END, (step) => {
      if (steps.length >= MAX_STEPS)
        throw new PatternError(0, `a pattern of at most ${MAX_STEPS} steps`, "more: repeat less");
      return steps.push(step) - 1;
    });
    return new Pattern(source, steps, start);
  }

  /** Whether the whole of a text, of at most `MAX_MATCHED` characters, is of the pattern. */
  matches(text: string): boolean {
    let ways = this.#follow([this.#start]);
    for (const character of text) {
      const code = character.codePointAt(0) ?? 0;
      const taken: number[] = [];
      for (const way of ways) {
        const step = this.#steps[way];
        if (step?.kind === "set" && contains(step.set, code)) taken.push(step.next);
      }
      if (taken.length === 0) return false;
      ways = this.#follow(taken);
    }
    return ways.includes(END);
  }

  /**
   * Every step that is reached from those without taking a character, each once. `from` is used up.
   */
  #follow(from: number[]): number[] {
    const seen = new Uint8Array(this.#steps.length);
    const reached: number[] = [];
    for (let at = from.pop(); at !== undefined; at = from.pop()) {
      if (seen[at] === 1) continue;
      seen[at] = 1;
      const step = this.#steps[at];
      if (step?.kind === "fork") from.push(step.first, step.second);
      else reached.push(at);
    }
    return reached;
  }
}

/** The first step of a node that continues with `next`. Steps are made from the end. */
function compile(node: PatternNode, next: number, add: (step: Step) => number): number {
  switch (node.kind) {
    case "set":
      return add({ kind: "set", set: node.set, next });
    case "sequence":
      // Nothing is a step too: else `(((){999}){999}){999}` would cost nothing and never end.
      if (node.parts.length === 0) return add({ kind: "fork", first: next, second: next });
      return node.parts.reduceRight((following, part) => compile(part, following, add), next);
    case "choice":
      return node.parts
        .map((part) => compile(part, next, add))
        .reduceRight((second, first) => add({ kind: "fork", first, second }));
    case "repeat": {
      let start = next;
      if (node.max === null) start = loop(node.part, next, add);
      else {
        for (let optional = node.min; optional < node.max; optional++)
          start = add({ kind: "fork", first: compile(node.part, start, add), second: next });
      }
      for (let needed = 0; needed < node.min; needed++) start = compile(node.part, start, add);
      return start;
    }
  }
}

function loop(part: PatternNode, next: number, add: (step: Step) => number): number {
  // The fork exists before the steps that it leads to, because these lead back to it.
  const fork = { kind: "fork" as const, first: next, second: next };
  const at = add(fork);
  fork.first = compile(part, at, add);
  return at;
}

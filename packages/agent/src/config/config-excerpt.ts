import { isOwnWord, type Span } from "./harmless-spans.ts";

/** A mistake in config.yaml, and where it is. */
export interface ConfigIssue {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** Whether it is about an unknown field: its name is shown, but not its value. */
  readonly isUnknownField?: boolean;
}

/** The longest part of a line that is shown. */
const WIDTH = 96;

const WORD = /(?!-(?:\s|$))[^\s,:{}[\]"'#|>&*!?]+/gu;
/** Between two words of one value. */
const INNER = /^(\s+|[^\s{}[\]]{1,3})$/u;

/** Parts of a line that may be a secret, also in places that usually have none. */
const SECRETS: readonly RegExp[] = [
  // postgresql://user:password@host
  /(?<=[a-z]:\/\/)\S*(?=@)/giu,
  // password: hunter2, secret_key=…, and all that follows on the line
  /(?<=(?:pass|pwd|secret|token|credential|connection|api_?key|access_?key|private|auth)[\w-]*["']?\s*[:=]\s*)\S.*/giu,
  /AGE-SECRET-KEY-[^\s'",]*/giu,
  /-----BEGIN .*/gu,
  // Long random text, except public values: recipients, fingerprints, SSH keys, digests, ids.
  /(?<![\w+/.=:-])(?!age1|AAAA|SHA256:|[0-9a-f]{64}\b|[a-z]{2,8}_[0-9a-hjkmnp-tv-z]{26}\b)(?=\w*\d)[A-Za-z0-9+=_-]{24,}/gu,
];

/**
 * A mistake with its line and a caret below it, for a person at the file:
 *
 *     12 |     path: /x
 *        |     ^
 *
 * Nobody should write a secret into config.yaml, but if somebody does, this line would show it on a
 * screen or in a log. So only text that is known to be harmless is shown, and `…` for the rest.
 */
export function excerptOf(text: string, issue: ConfigIssue, harmless: readonly Span[]): string {
  const { line, column, isUnknownField } = issue;
  const before = text.split("\n").slice(0, line - 1);
  const start = before.reduce((length, each) => length + each.length + 1, 0);
  const whole = (text.split("\n")[line - 1] ?? "").replace(/\r$/, "").replaceAll("\t", " ");
  const open = harmless.map(([from, to]): Span => [from - start, to - start]);
  // The message has this name too.
  const own = isUnknownField === true ? /^["']?[\w-]{1,64}/.exec(whole.slice(column - 1)) : null;
  if (own !== null) open.push([column - 1, column - 1 + own[0].length]);
  const isOpen = ([from, to]: Span): boolean => open.some((span) => span[0] <= from && to <= span[1]);
  const hidden = [
    ...spansOf(WORD, whole).filter((span) => !isOpen(span) && !isOwnWord(whole.slice(...span))),
    ...SECRETS.flatMap((pattern) => spansOf(pattern, whole)),
  ];
  const { shown, caret } = masked(whole, merged(hidden, whole), column - 1);
  const from = Math.max(0, Math.min(caret - WIDTH / 2, shown.length - WIDTH));
  const cut = `${from > 0 ? "…" : ""}${shown.slice(from, from + WIDTH)}${shown.length > from + WIDTH ? "…" : ""}`;
  const number = String(line);
  return [
    `  ${number} | ${cut}`,
    `  ${" ".repeat(number.length)} | ${" ".repeat(caret - from + (from > 0 ? 1 : 0))}^`,
  ].join("\n");
}

function spansOf(pattern: RegExp, whole: string): Span[] {
  return Array.from(whole.matchAll(pattern), ({ index, 0: found }): Span => [index, index + found.length]);
}

function merged(spans: readonly Span[], whole: string): Span[] {
  const all: Span[] = [];
  for (const [from, to] of spans.toSorted((a, b) => a[0] - b[0])) {
    const last = all.at(-1);
    const isNext = last !== undefined && (from <= last[1] || INNER.test(whole.slice(last[1], from)));
    if (isNext) all[all.length - 1] = [last[0], Math.max(last[1], to)];
    else all.push([from, to]);
  }
  return all;
}

function masked(whole: string, spans: readonly Span[], at: number): { shown: string; caret: number } {
  let shown = "";
  let caret = at;
  let done = 0;
  for (const [from, to] of spans) {
    shown += `${whole.slice(done, from)}…`;
    if (at >= to) caret -= to - from - 1;
    else if (at > from) caret = shown.length - 1;
    done = to;
  }
  shown += whole.slice(done);
  return { shown, caret: Math.min(caret, shown.length) };
}

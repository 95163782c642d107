/** A mistake in config.yaml, and where it is. */
export interface ConfigIssue {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** Whether only the field's name may be shown, because nobody knows what it holds. */
  readonly keyOnly?: boolean;
}

/** The longest part of a line that is shown. */
const WIDTH = 96;

/**
 * What in a line may be a secret. Nobody should write one into config.yaml, but whoever does is
 * shown this line just then, on a screen or in a log.
 */
const SECRETS: readonly RegExp[] = [
  // postgresql://user:password@host
  /(?<=[a-z]:\/\/)[^\s@/]*(?=@)/giu,
  // password: hunter2, secret_key=…, and all that follows on the line
  /(?<=(?:pass|pwd|secret|token|credential|connection|api_?key|access_?key|private|auth)[\w-]*["']?\s*[:=]\s*)\S.*/giu,
  /AGE-SECRET-KEY-[^\s'",]*/giu,
  /-----BEGIN .*/gu,
  // Long random text, except what is public: recipients, fingerprints, SSH keys, digests, ids.
  /(?<![\w+/.=:-])(?!age1|AAAA|SHA256:|[0-9a-f]{64}\b|[a-z]{2,8}_[0-9a-hjkmnp-tv-z]{26}\b)(?=\w*\d)[A-Za-z0-9+=_-]{24,}/gu,
];

/**
 * A mistake with its line and a caret below it, for a person at the file:
 *
 *     12 |     path: /x
 *        |     ^
 *
 * What may be a secret is shown as `…`.
 */
export function excerptOf(text: string, { line, column, keyOnly }: ConfigIssue): string {
  const whole = (text.split("\n")[line - 1] ?? "").replace(/\r$/, "").replaceAll("\t", " ");
  const secrets = SECRETS.flatMap((pattern) =>
    Array.from(whole.matchAll(pattern), (found): Span => [found.index, found.index + found[0].length]),
  );
  // Nobody knows what an unknown field holds.
  const value = keyOnly === true ? whole.slice(column - 1).search(/:\s*\S/) : -1;
  if (value !== -1) secrets.push([column + value, whole.length]);
  const { shown, caret } = masked(whole, merged(secrets), column - 1);
  const from = Math.max(0, Math.min(caret - WIDTH / 2, shown.length - WIDTH));
  const cut = `${from > 0 ? "…" : ""}${shown.slice(from, from + WIDTH)}${shown.length > from + WIDTH ? "…" : ""}`;
  const number = String(line);
  return [
    `  ${number} | ${cut}`,
    `  ${" ".repeat(number.length)} | ${" ".repeat(caret - from + (from > 0 ? 1 : 0))}^`,
  ].join("\n");
}

/** From and to, in characters of the line. */
type Span = readonly [number, number];

function merged(spans: readonly Span[]): Span[] {
  const all: Span[] = [];
  for (const [from, to] of spans.toSorted((a, b) => a[0] - b[0])) {
    const last = all.at(-1);
    if (last !== undefined && from <= last[1]) all[all.length - 1] = [last[0], Math.max(last[1], to)];
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

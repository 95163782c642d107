import { progressLine, type ProgressLine } from "./progress-line.ts";

type Paint = (text: string) => string;

/** Marks of what is good, bad or worth a look; plain text where colours are not wanted. */
export interface Style {
  readonly good: Paint;
  readonly bad: Paint;
  readonly warn: Paint;
  readonly strong: Paint;
  readonly faint: Paint;
}

/** Where a command speaks: data to stdout, for programs too; talk to stderr, for people. */
export interface Terminal {
  readonly data: (text: string) => void;
  readonly say: (text: string) => void;
  /** A line that redraws itself while something runs; nothing where stderr is not a terminal. */
  readonly progress: () => ProgressLine;
  readonly onData: Style;
  readonly onTalk: Style;
}

interface Stream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export function openTerminal(
  out: Stream,
  talk: Stream,
  env: Readonly<Record<string, string | undefined>>,
): Terminal {
  // https://no-color.org: set and not empty.
  const wanted = (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  return {
    data: (text) => void out.write(`${text}\n`),
    say: (text) => void talk.write(`${text}\n`),
    progress: () => progressLine(talk.isTTY === true ? (text) => void talk.write(text) : null),
    onData: style(wanted && out.isTTY === true),
    onTalk: style(wanted && talk.isTTY === true),
  };
}

function style(colours: boolean): Style {
  const paint =
    (code: number) =>
    (text: string): string =>
      colours ? `\u001b[${code}m${text}\u001b[0m` : text;
  return { good: paint(32), bad: paint(31), warn: paint(33), strong: paint(1), faint: paint(2) };
}

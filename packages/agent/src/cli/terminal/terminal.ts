import { randomBytes } from "node:crypto";
import { plainMessage, plainText } from "@attestore/proof/plain-text";
import { progressLine, type ProgressLine } from "./progress-line.ts";

type Paint = (text: string) => string;

/** Marks for good, bad and suspicious things; plain text if colours are off. */
export interface Style {
  readonly good: Paint;
  readonly bad: Paint;
  readonly warn: Paint;
  readonly strong: Paint;
  readonly faint: Paint;
}

/**
 * Where a command writes: data to stdout, also for programs; messages to stderr, for people. No
 * text can move the cursor, also no foreign name or error. A line break in it starts no new
 * message.
 */
export interface Terminal {
  readonly data: (text: string) => void;
  /** Writes several lines of our own to stdout. Foreign texts are in them only as JSON. */
  readonly block: (text: string) => void;
  readonly say: (text: string) => void;
  /** For people who want to follow or continue: not with --quiet. */
  readonly note: (text: string) => void;
  /** Only with --verbose. */
  readonly detail: (text: string) => void;
  /** A line that redraws itself while something runs; nothing if stderr is not a terminal. */
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
  // Only this adds colours. A foreign text can't.
  const mark = randomBytes(8).toString("hex");
  const write = (stream: Stream, plain: string): void =>
    void stream.write(`${plain.replaceAll(new RegExp(`${mark}:([0-9]{1,2});`, "g"), "\u001b[$1m")}\n`);
  return {
    data: (text) => write(out, plainMessage(text)),
    block: (text) => write(out, plainText(text)),
    say: (text) => write(talk, plainMessage(text)),
    note: (text) => write(talk, plainMessage(text)),
    detail: () => undefined,
    progress: () => progressLine(talk.isTTY === true ? (text) => void talk.write(text) : null),
    onData: style(mark, wanted && out.isTTY === true),
    onTalk: style(mark, wanted && talk.isTTY === true),
  };
}

function style(mark: string, colours: boolean): Style {
  const paint =
    (code: number) =>
    (text: string): string =>
      colours ? `${mark}:${code};${text}${mark}:0;` : text;
  return { good: paint(32), bad: paint(31), warn: paint(33), strong: paint(1), faint: paint(2) };
}

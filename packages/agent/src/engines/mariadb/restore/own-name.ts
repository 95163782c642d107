import { UserError } from "../../../errors/user-error.ts";
import { quoted } from "../connection/session.ts";

/** Begins a database in a dump that makes its databases itself. */
const BEGIN = "\n-- Current Database: `";
const ALTER = "\nALTER DATABASE `";
const DELIMITER = "\nDELIMITER ";
/** Longer than any of these statements, and than what comes before the body of a trigger. */
const HELD = 8192;
const NAME = "(?:`(?:[^`]|``)+`|[A-Za-z0-9_$\\x80-\\xff]+)";
const ALTERS = /^\nALTER DATABASE (`(?:[^`]|``)+`) (CHARACTER SET \w+ COLLATE \w+ ?(\S+))(?=\n)/;
const DELIMITS = /^\nDELIMITER (\S+)\n/;
const MAKES_TRIGGER = /^\/\*!50003 CREATE\*\/ [^\n]*?\/\*!50003 \s*TRIGGER\s/i;
const QUALIFIER = `(?:(${NAME})\\s*\\.\\s*)?`;
/** The text of a trigger is as somebody wrote it, and may name its database twice. */
const TRIGGER = new RegExp(
  `^([^\\n]*?/\\*!50003 \\s*TRIGGER\\s+(?:IF\\s+NOT\\s+EXISTS\\s+)?)${QUALIFIER}(${NAME}\\s+(?:BEFORE|AFTER)\\s[A-Za-z,\\s]*?\\sON\\s+)${QUALIFIER}`,
  "i",
);
/** Of a dump program: in its first lines, the database if it is only one. */
const HEADER = /^-- Host: .*? {4}Database: ([^\n]+)\n/m;
const HEADER_BYTES = 1024;

/**
 * Has a dump of one database fill another one also where its statements name it: where
 * `ALTER DATABASE` sets the character set with which a routine or trigger was made, and where a
 * trigger's own text says in which database it is. Without this they would change the database
 * of that name, if the server has one. The bodies of routines and triggers stay as they are.
 * @throws UserError target_unusable before a trigger passes whose text is not understood.
 */
export function underName(
  content: AsyncIterable<Buffer>,
  to: string,
): AsyncGenerator<Buffer, void, undefined> {
  return renaming(content, new OwnName(null, to));
}

/** The same of another program's dump of one database, until it names the databases itself. */
export async function* withoutOwnName(
  content: AsyncIterable<Buffer>,
  to: string,
): AsyncGenerator<Buffer, void, undefined> {
  const pieces = content[Symbol.asyncIterator]();
  let begun: Buffer = Buffer.alloc(0);
  let next = await pieces.next();
  for (; next.done !== true && begun.length < HEADER_BYTES; next = await pieces.next())
    begun = Buffer.concat([begun, next.value]);
  const name = HEADER.exec(begun.toString("utf8", 0, HEADER_BYTES))?.[1];
  async function* whole(): AsyncGenerator<Buffer, void, undefined> {
    yield begun;
    for (; next.done !== true; next = await pieces.next()) yield next.value;
  }
  yield* name === undefined ? whole() : renaming(whole(), new OwnName(name, to));
}

async function* renaming(
  content: AsyncIterable<Buffer>,
  own: OwnName,
): AsyncGenerator<Buffer, void, undefined> {
  let held: Buffer = Buffer.alloc(0);
  for await (const piece of content) {
    const bytes = held.length === 0 ? piece : Buffer.concat([held, piece]);
    held = Buffer.from(bytes.subarray(yield* own.pass(bytes, Math.max(0, bytes.length - HELD))));
  }
  yield held.subarray(yield* own.pass(held, held.length));
}

class OwnName {
  /** Null until the dump makes it. */
  #from: string | null;
  readonly #to: string;
  /** Whether the dump makes its one database. What is not understood is refused then. */
  readonly #isMade: boolean;
  /** What ends a statement. The body of a trigger or event never contains it. */
  #delimiter = ";";
  #isOver = false;

  /** `from`: null if the dump makes its database. */
  constructor(from: string | null, to: string) {
    this.#from = from;
    this.#to = to;
    this.#isMade = from === null;
  }

  /** Yields what is before `end`, and a statement that begins there; returns where it stopped. */
  *pass(bytes: Buffer, end: number): Generator<Buffer, number, undefined> {
    let from = 0;
    for (const at of places(bytes, end)) {
      if (at < from || this.#isOver) continue;
      const text = bytes.toString("latin1", at, at + HELD);
      if (text.startsWith(BEGIN)) this.#begins(text);
      const changed = this.#changed(text);
      if (changed === null) continue;
      yield bytes.subarray(from, at);
      yield Buffer.from(changed.text, "latin1");
      from = at + changed.length;
    }
    if (from < end) yield bytes.subarray(from, end);
    return Math.max(from, end);
  }

  #begins(text: string): void {
    this.#isOver = !this.#isMade;
    this.#from = nameOf(text.slice(BEGIN.length - 1).split("\n")[0] ?? "");
  }

  /** What a statement becomes, and how many bytes that replaces. */
  #changed(text: string): { readonly text: string; readonly length: number } | null {
    if (this.#from === this.#to) return null;
    const [alters, name = "", rest = "", ending] = ALTERS.exec(text) ?? [];
    if (alters !== undefined)
      return ending === this.#delimiter && this.#isOwn(name)
        ? { text: `\nALTER DATABASE ${latin1(quoted(this.#to))} ${rest}`, length: alters.length }
        : null;
    const [delimits, delimiter] = DELIMITS.exec(text) ?? [];
    if (delimits === undefined || delimiter === undefined) return null;
    this.#delimiter = delimiter;
    const after = text.slice(delimits.length);
    if (!MAKES_TRIGGER.test(after)) return null;
    const [header, makes = "", ofTrigger, trigger = "", ofTable] = TRIGGER.exec(after) ?? [];
    if (header === undefined) return this.#notUnderstood(after);
    const keeps = (of: string | undefined): string => (of === undefined || this.#isOwn(of) ? "" : `${of}.`);
    return {
      text: `${delimits}${makes}${keeps(ofTrigger)}${trigger}${keeps(ofTable)}`,
      length: delimits.length + header.length,
    };
  }

  /** A server takes no trigger in another database than its table's. */
  #notUnderstood(trigger: string): null {
    const [before = ""] = trigger.split(/\sFOR\s+EACH\s+ROW\s/i);
    const isNamed = before.toLowerCase().includes(latin1(this.#from ?? "").toLowerCase());
    if (!this.#isMade || !isNamed) return null;
    throw new UserError(
      "target_unusable",
      "a trigger of the dump names its database in a way that cannot be changed here, and would be made in that one: restore it under its own name, or with --output",
    );
  }

  #isOwn(name: string): boolean {
    return nameOf(name).toLowerCase() === this.#from?.toLowerCase();
  }
}

/** Of a name as it is written in a statement, in bytes. */
function nameOf(written: string): string {
  const text = Buffer.from(written, "latin1").toString("utf8");
  return text.startsWith("`") ? text.slice(1, -1).replaceAll("``", "`") : text;
}

/** Where a line begins that may matter, up to `end`. */
function* places(bytes: Buffer, end: number): Generator<number, void, undefined> {
  const marks = [BEGIN, ALTER, DELIMITER].map((mark) => ({ mark, at: bytes.indexOf(mark) }));
  for (;;) {
    const [first] = marks.filter(({ at }) => at !== -1).toSorted((a, b) => a.at - b.at);
    if (first === undefined || first.at >= end) return;
    yield first.at;
    first.at = bytes.indexOf(first.mark, first.at + 1);
  }
}

function latin1(text: string): string {
  return Buffer.from(text).toString("latin1");
}

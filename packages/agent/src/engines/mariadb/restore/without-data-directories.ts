const MARK = " DIRECTORY";
const BEFORE = " INDEX".length;
/** Longer than any path that a server takes. */
const HELD = 8192;
/** Enough of a line to tell what it is. */
const HEAD = 16;
/** A whole path. In a comment there would be two quotes before it. */
const PLACE = / (?:DATA|INDEX) DIRECTORY ?= ?'(?:\/|[A-Za-z]:)(?:[^'\\]|''|\\.)*'/s;
/** A line of CREATE TABLE after the columns. No line of rows begins like that. */
const OPTIONS = /^(?:\) ENGINE=| ?\(?(?:SUB)?PARTITION )/;
/** Between two of these lines is the text of a routine, trigger or event. */
const DELIMITER = "\nDELIMITER ";
const USUAL = "\nDELIMITER ;\n";

/** Where the bytes at hand begin. */
interface Place {
  /** Of the line. Null at the beginning of the dump. */
  head: string | null;
  isCode: boolean;
}

/**
 * Leaves `DATA DIRECTORY` and `INDEX DIRECTORY` out of the tables of a dump. MySQL lets only an
 * account that may read and write files name them, and a dump is loaded by one that may not. What a
 * routine contains stays as it is: nothing runs it while it is loaded.
 */
export async function* withoutPlacesOfFiles(
  content: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  let held: Buffer = Buffer.alloc(0);
  const place: Place = { head: null, isCode: false };
  for await (const piece of content) {
    const bytes: Buffer = held.length === 0 ? piece : Buffer.concat([held, piece]);
    const end = bytes.length - HELD;
    if (end <= 0) {
      held = Buffer.from(bytes);
      continue;
    }
    const at = yield* without(bytes, end, place);
    place.head = headAt(bytes, at, place.head);
    held = Buffer.from(bytes.subarray(at));
  }
  yield held.subarray(yield* without(held, held.length, place));
}

/** Yields what is before `end`, and returns where it stopped. */
function* without(bytes: Buffer, end: number, place: Place): Generator<Buffer, number, undefined> {
  let from = 0;
  let line = bytes.indexOf(DELIMITER);
  const goTo = (at: number): void => {
    for (; line !== -1 && line < at; line = bytes.indexOf(DELIMITER, line + 1))
      place.isCode = bytes.toString("latin1", line, line + USUAL.length) !== USUAL;
  };
  for (let at = bytes.indexOf(MARK); at !== -1 && at - BEFORE < end; at = bytes.indexOf(MARK, at + 1)) {
    if (at < from || !OPTIONS.test(headAt(bytes, at, place.head))) continue;
    goTo(at);
    if (place.isCode) continue;
    const start = Math.max(from, at - BEFORE);
    const found = PLACE.exec(bytes.subarray(start, start + HELD).toString("latin1"));
    if (found === null || start + found.index > at) continue;
    yield bytes.subarray(from, start + found.index);
    from = start + found.index + found[0].length;
  }
  const until = Math.max(from, end);
  if (from < end) yield bytes.subarray(from, end);
  goTo(until);
  return until;
}

/** The beginning of the line in which a byte is. `head`: that of the first line here. */
function headAt(bytes: Buffer, at: number, head: string | null): string {
  const newline = at === 0 ? -1 : bytes.lastIndexOf("\n", at - 1);
  if (newline === -1 && head !== null) return head;
  return bytes.subarray(newline + 1, newline + 1 + HEAD).toString("latin1");
}

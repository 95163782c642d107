import { UserError } from "../../../errors/user-error.ts";
import { quoted } from "../connection/session.ts";

/** Precedes the statements that make a database and select it; see `withoutOwnDatabases`. */
const BEGIN = "\n-- Current Database: `";
/** No dump program writes more between that and what follows. */
const HEADER = 8192;
/** No dump program writes more before it. */
const PREFACE = 64 * 1024;
/** Comments and settings of the session, as dump programs write them. */
const HARMLESS = /^(?:--.*|SET .*;|\/\*M?!\d+ SET .*\*\/;|\/\*M?!999999\\- enable the sandbox mode \*\/ ?|)$/;

/**
 * Has a dump of one database make and fill another one. Only the two statements below each
 * `Current Database` are changed: neither can be in a row, because line breaks in a row's text are
 * escaped.
 * @throws UserError target_unusable if the dump holds another database, before any of that passes;
 * before anything passes, if it does not begin with its database: its tables could replace those of
 * a database that it selects itself.
 */
export async function* renamed(
  content: AsyncIterable<Buffer>,
  from: string | null,
  to: string,
): AsyncGenerator<Buffer, void, undefined> {
  let held: Buffer = Buffer.alloc(0);
  let only = from;
  let isFirst = true;
  let isBegun = false;
  const take = (bytes: Buffer, at: number): { text: Buffer; rest: Buffer } => {
    const header = bytes.subarray(at, at + HEADER).toString("latin1");
    const [whole, name, statements] =
      /^\n-- Current Database: (`(?:[^`]|``)*`)\n--\n((?:\n|CREATE DATABASE [^\n]*;\n|USE [^\n]*;\n)*)/.exec(
        header,
      ) ?? [];
    if (whole === undefined || name === undefined || statements === undefined)
      throw unusable("the dump's statements that make its database are not as a dump program writes them");
    const named = Buffer.from(name, "latin1").toString("utf8").slice(1, -1).replaceAll("``", "`");
    only ??= named;
    if (named !== only)
      throw unusable(`the dump also holds the database ${named.slice(0, 64)}: restore it with --output`);
    const target = Buffer.from(quoted(to)).toString("latin1");
    const text = whole.replaceAll(name, () => target);
    return { text: Buffer.from(text, "latin1"), rest: bytes.subarray(at + whole.length) };
  };
  for await (const piece of content) {
    let rest: Buffer = held.length === 0 ? piece : Buffer.concat([held, piece]);
    if (isFirst) {
      // A dump may begin with it.
      rest = Buffer.concat([Buffer.from("\n"), rest]);
      isFirst = false;
    }
    if (!isBegun && rest.length < PREFACE && !rest.includes(BEGIN)) {
      held = rest;
      continue;
    }
    if (!isBegun) requirePreface(rest);
    isBegun = true;
    for (let at = rest.indexOf(BEGIN); at !== -1 && at <= rest.length - HEADER; at = rest.indexOf(BEGIN)) {
      yield rest.subarray(0, at);
      const { text, rest: after } = take(rest, at);
      yield text;
      rest = after;
    }
    const begun = rest.indexOf(BEGIN);
    const cut = begun === -1 ? Math.max(0, rest.length - BEGIN.length) : begun;
    if (cut > 0) yield rest.subarray(0, cut);
    held = Buffer.from(rest.subarray(cut));
  }
  if (!isBegun) requirePreface(held);
  for (let at = held.indexOf(BEGIN); at !== -1; at = held.indexOf(BEGIN)) {
    yield held.subarray(0, at);
    const { text, rest } = take(held, at);
    yield text;
    held = rest;
  }
  yield held;
}

function requirePreface(bytes: Buffer): void {
  const begin = bytes.indexOf(BEGIN);
  const lines = bytes.toString("latin1", 0, Math.max(begin, 0)).split("\n");
  if (begin === -1 || !lines.every((line) => HARMLESS.test(line)))
    throw unusable(
      "the dump does not begin with the database that it makes, as mysqldump --databases writes it, and could write into another: nothing was loaded. Restore it with --output",
    );
}

function unusable(message: string): UserError {
  return new UserError("target_unusable", message);
}

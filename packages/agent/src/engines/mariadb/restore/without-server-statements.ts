const DELIMITER = "\nDELIMITER ";
/**
 * What mysqldump writes by default if the server names its transactions (GTID), as MySQL 9 does,
 * and if it dumps the server's own databases too. It changes the server, and says nothing about
 * data.
 */
const STATEMENTS: Readonly<Record<string, RegExp>> = {
  "\nSET @@SESSION.SQL_LOG_BIN": /^\nSET @@SESSION\.SQL_LOG_BIN ?= ?(?:0|@MYSQLDUMP_TEMP_LOG_BIN);$/,
  // One line for each server that a transaction came from.
  "\nSET @@GLOBAL.GTID_PURGED": /^\nSET @@GLOBAL\.GTID_PURGED=(?:\/\*!80000 '\+'\*\/ )?'[\w:,\s-]*';$/,
  "\n/*!50606 SET GLOBAL INNODB_STATS_AUTO_RECALC":
    /^\n\/\*!50606 SET GLOBAL INNODB_STATS_AUTO_RECALC=(?:OFF|@OLD_INNODB_STATS_AUTO_RECALC) \*\/;$/,
};
const MARKS = [DELIMITER, ...Object.keys(STATEMENTS)];
const LONGEST = Math.max(...MARKS.map((mark) => mark.length));
/** A longer list of transactions stays, and is refused. */
const HELD = 256 * 1024;

/**
 * Leaves these statements out of another program's dump, because it is loaded by an account that
 * may change nothing of the server. None can be in a row: line breaks in a row's text are escaped.
 * What a routine contains stays as it is.
 */
export async function* withoutServerStatements(
  content: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  let held: Buffer = Buffer.alloc(0);
  const place = { isCode: false };
  for await (const piece of content) {
    const bytes = held.length === 0 ? piece : Buffer.concat([held, piece]);
    held = Buffer.from(bytes.subarray(yield* without(bytes, false, place)));
  }
  yield held.subarray(yield* without(held, true, place));
}

/** Yields what is before the place where it stopped, and returns that. */
function* without(
  bytes: Buffer,
  isEnd: boolean,
  place: { isCode: boolean },
): Generator<Buffer, number, undefined> {
  let from = 0;
  let at = 0;
  for (let mark = next(bytes, at); mark !== null; mark = next(bytes, at)) {
    const { text: begin, at: found } = mark;
    const end = endOf(bytes, begin, found);
    if (end === -1 && !isEnd && bytes.length - found < HELD) {
      if (found > from) yield bytes.subarray(from, found);
      return found;
    }
    at = found + 1;
    const text = end === -1 ? "" : bytes.toString("latin1", found, end);
    if (begin === DELIMITER) place.isCode = text.trimEnd() !== "\nDELIMITER ;";
    else if (!place.isCode && STATEMENTS[begin]?.test(text) === true) {
      // The line stays, and so do the numbers of lines, and what follows in it.
      yield bytes.subarray(from, at);
      from = at = end;
    }
  }
  // The rest may be the beginning of a mark.
  const until = isEnd ? bytes.length : Math.max(from, bytes.length - LONGEST);
  if (until > from) yield bytes.subarray(from, until);
  return until;
}

function next(bytes: Buffer, from: number): { readonly text: string; readonly at: number } | null {
  const found = MARKS.map((text) => ({ text, at: bytes.indexOf(text, from) })).filter(({ at }) => at !== -1);
  return found.length === 0 ? null : found.reduce((first, each) => (each.at < first.at ? each : first));
}

/** After the line of a DELIMITER, or after another statement's semicolon; -1 if neither is here. */
function endOf(bytes: Buffer, begin: string, at: number): number {
  const end = bytes.indexOf(begin === DELIMITER ? "\n" : ";", at + 1);
  return end === -1 || begin === DELIMITER ? end : end + 1;
}

/** Differences of a definition that are right on a copy. Each rule has a test. */

interface Part {
  readonly kind: string;
  readonly name: string;
  readonly definition: string;
}

const KEY = /^ {2}(?:PRIMARY|(?:UNIQUE |FULLTEXT |SPATIAL |VECTOR )?KEY `((?:[^`]|``)+)`)/;
const CONSTRAINT = /^ {2}CONSTRAINT `((?:[^`]|``)+)` /;
const COUNTER = /^(\) ENGINE=\w+) AUTO_INCREMENT=(\d+)/m;
/** A column in the format of before MariaDB 10.1. A restore makes it in today's. */
const OLD_FORMAT = /^( {2}`(?:[^`]|``)+` (?:date)?time(?:stamp)?(?:\(\d\))?) \/\* mariadb-5\.3 \*\//gm;
/** The server adds such partitions as time goes by. */
const ADDED_BY_TIME = /(\n PARTITION BY SYSTEM_TIME [^\n]* AUTO)\n[^]*$/;
/**
 * A scratch server keeps all files in its own directory. Each is a whole path: what looks like one
 * in a text has another quote before it.
 */
const PLACES_OF_FILES = / (?:DATA|INDEX) DIRECTORY ?= ?'(?:\/|[A-Za-z]:)(?:[^'\\]|''|\\.)*'/gs;

/** MySQL's, of a database that nobody may change. A dump does not make it so. */
const READ_ONLY = / \/\* READ ONLY ?= ?1 \*\/$/;

/** What SHOW CREATE DATABASE says, without what no dump has. */
export function databaseText(text: string): { readonly text: string; readonly isReadOnly: boolean } {
  return { text: text.replace(READ_ONLY, ""), isReadOnly: READ_ONLY.test(text) };
}

/** Which rules below leave something of a table out. */
export function leftOutOf(text: string): { readonly hasPlaces: boolean; readonly growsByTime: boolean } {
  return { hasPlaces: text.replaceAll(PLACES_OF_FILES, "") !== text, growsByTime: ADDED_BY_TIME.test(text) };
}

/** SHOW CREATE TABLE without what a restore at another time, by a newer server, makes otherwise. */
export function withoutAge(text: string): string {
  return text.replaceAll(OLD_FORMAT, "$1").replace(ADDED_BY_TIME, "$1");
}

/**
 * Splits the output of SHOW CREATE TABLE into the table with its columns, each index and each
 * constraint. All other lines stay with the table. The order of indexes and constraints does not
 * count, and the next value of a counter is an object of its own.
 */
export function tableParts(table: string, text: string): Part[] {
  const parts: Part[] = [];
  const left: string[] = [];
  for (const line of text.replace(COUNTER, "$1").replaceAll(PLACES_OF_FILES, "").split("\n")) {
    const definition = line.replace(/,$/, "");
    const key = KEY.exec(line);
    const constraint = CONSTRAINT.exec(line)?.[1];
    if (key !== null) parts.push({ kind: "index", name: `${table}.${key[1] ?? "PRIMARY"}`, definition });
    else if (constraint !== undefined)
      parts.push({ kind: "constraint", name: `${table}.${constraint}`, definition });
    else left.push(definition);
  }
  return [{ kind: "table", name: table, definition: left.join("\n") }, ...parts];
}

/**
 * The next value of a table's AUTO_INCREMENT. If rows have a greater one already (an UPDATE can do
 * that), a restore continues after these.
 */
export function counterOf(text: string, newest: string): string {
  const next = BigInt(COUNTER.exec(text)?.[2] ?? "1");
  const after = /^\d{1,20}$/.test(newest) ? BigInt(newest) + 1n : 0n;
  return String(after > next ? after : next);
}

/**
 * The text of an event. Null for one that ends and is not kept afterwards: a server that gets it
 * after its end removes it at once. If it is kept, the server switches it off.
 */
export function eventText(
  text: string,
  { keeps, ends }: { readonly keeps: boolean; readonly ends: boolean },
): string | null {
  if (!ends) return text;
  return keeps ? text.replace(/ ON COMPLETION PRESERVE (?:ENABLE|DISABLE)(?: ON SLAVE)?/, "") : null;
}

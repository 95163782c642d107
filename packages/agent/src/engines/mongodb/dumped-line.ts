import type { TableCount } from "../row-counts.ts";
import { type Namespace, nameOf } from "./describe.ts";

/**
 * mongodump's line on stderr about each collection that it has dumped. The number is how many
 * documents it wrote.
 */
const DONE = /\tdone dumping (.+) \(([0-9]+) documents?\)$/s;
/** Each line begins with a time. Before 100.16, a collection's name may have line breaks. */
const LINE_START = /\n(?=[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+[+-][0-9]{4}\t)/;
/** As Go quotes a text: in backticks if it can, else with escapes. From mongodump 100.16 on. */
const PLAIN = /^`([^`]*)`$/;
const ESCAPED = /^"(.*)"$/;
const ESCAPES = /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))/g;
const LETTERS: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** Null for any other line. */
export function dumpedIn(line: string): { readonly name: string; readonly documents: bigint } | null {
  const [, name, documents] = DONE.exec(line) ?? [];
  return name === undefined || documents === undefined
    ? null
    : { name: unquoted(name), documents: BigInt(documents) };
}

/** The lines that mongodump writes; a line may have line breaks. */
export async function* linesOf(output: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let begun = "";
  for await (const piece of output) {
    const lines = (begun + piece).split(LINE_START);
    begun = lines.pop() ?? "";
    yield* lines;
  }
  yield begun.replace(/\n$/, "");
}

function unquoted(name: string): string {
  const plain = PLAIN.exec(name)?.[1];
  if (plain !== undefined) return plain;
  const escaped = ESCAPED.exec(name)?.[1];
  if (escaped === undefined) return name;
  return escaped.replaceAll(
    ESCAPES,
    (_, byte?: string, short?: string, long?: string, letter?: string): string =>
      letter === undefined
        ? String.fromCodePoint(Number.parseInt(byte ?? short ?? long ?? "fffd", 16))
        : (LETTERS[letter] ?? letter),
  );
}

/** By the names in mongodump's lines, how many documents it wrote. */
type Written = ReadonlyMap<string, bigint>;

/**
 * Whether mongodump has dumped a collection. The documents of a time series are those of another
 * collection, until MongoDB 8.3.
 */
export function isWritten(each: Namespace, written: Written): boolean {
  const buckets = { ...each, collection: `system.buckets.${each.collection}` };
  return written.has(nameOf(each)) || (each.isTimeseries === true && written.has(nameOf(buckets)));
}

/** Of a time series nobody knows it: mongodump counts what the server keeps them in. */
export function countOf(each: Namespace, written: Written): TableCount {
  const name = nameOf(each);
  return each.isTimeseries === true ? { name } : { name, rows: written.get(name) ?? 0n };
}

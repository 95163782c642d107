import { OWN_DATABASES } from "../schema.ts";

/**
 * Begins a database in a dump of several. It cannot occur in a row, because line breaks in a row's
 * text are escaped.
 */
const BEGIN = "\n-- Current Database: `";
/** Follows the last database. */
const ENDS = ["\n/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE", "\n-- Dump completed"];
/** Enough for the longest name and what comes before it. */
const HELD = 512;

/**
 * Leaves the server's own databases out of a dump; `--all-databases` writes them too. The scratch
 * server has its own accounts and settings, and nothing in a dump may change them. `onUse` gets the
 * name of each database to which the dump changes where one begins.
 */
export async function* withoutOwnDatabases(
  content: AsyncIterable<Buffer>,
  onUse: (name: string) => void = () => undefined,
): AsyncGenerator<Buffer, void, undefined> {
  let held: Buffer = Buffer.alloc(0);
  let isOwn = false;
  for await (const piece of content) {
    let rest: Buffer = held.length === 0 ? piece : Buffer.concat([held, piece]);
    for (;;) {
      const at = next(rest, isOwn);
      // Wait for the rest of a name.
      if (at === -1 || at > rest.length - HELD) break;
      if (!isOwn) yield rest.subarray(0, at + 1);
      isOwn = begins(rest.subarray(at, at + HELD), onUse);
      rest = rest.subarray(at + 1);
    }
    const cut = Math.max(0, rest.length - HELD);
    if (!isOwn && cut > 0) yield rest.subarray(0, cut);
    held = Buffer.from(rest.subarray(cut));
  }
  for (let at = next(held, isOwn); at !== -1; at = next(held, isOwn)) {
    if (!isOwn) yield held.subarray(0, at + 1);
    isOwn = begins(held.subarray(at, at + HELD), onUse);
    held = held.subarray(at + 1);
  }
  if (!isOwn) yield held;
}

/**
 * Where the next database begins, or where one of the server's own ends; -1 if neither is here. The
 * line break that was found is the last byte of the text before it.
 */
function next(bytes: Buffer, isOwn: boolean): number {
  const places = (isOwn ? [BEGIN, ...ENDS] : [BEGIN]).map((mark) => bytes.indexOf(mark));
  return places
    .filter((at) => at !== -1)
    .reduce((first, at) => (first === -1 ? at : Math.min(first, at)), -1);
}

/** Whether one of the server's own begins here. */
function begins(bytes: Buffer, onUse: (name: string) => void): boolean {
  const text = bytes.toString("utf8");
  const [, name] = /^\n-- Current Database: `((?:[^`]|``)*)`/.exec(text) ?? [];
  const isOwn = name !== undefined && OWN_DATABASES.includes(name.toLowerCase());
  const used = isOwn ? undefined : USE.exec(text)?.[1];
  if (used !== undefined) onUse(used.replaceAll("``", "`"));
  return isOwn;
}

/** What dump programs write where a database begins: nothing else may come before `USE`. */
const USE = /^\n-- Current Database: [^\n]*\n--\n(?:\n|CREATE DATABASE [^\n]*;\n)*USE `((?:[^`\n]|``)+)`;\n/;

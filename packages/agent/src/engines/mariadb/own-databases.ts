import { OWN_DATABASES } from "./schema.ts";

/**
 * What begins a database in a dump of several, at the beginning of a line; in a row's text a line
 * break is written as `\\n`.
 */
const BEGIN = "\n-- Current Database: `";
/** What follows the last database. */
const ENDS = ["\n/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE", "\n-- Dump completed"];
/** Room for the longest name, and for what comes before it. */
const HELD = 512;

/**
 * A dump without the server's own databases, which `--all-databases` writes too: the accounts and
 * settings of the source are none of the scratch server's, and nothing in a dump may change those.
 */
export async function* withoutOwnDatabases(
  content: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  let held: Buffer = Buffer.alloc(0);
  let isOwn = false;
  for await (const piece of content) {
    let rest: Buffer = held.length === 0 ? piece : Buffer.concat([held, piece]);
    for (;;) {
      const at = next(rest, isOwn);
      // A mark whose name has not come yet waits for it.
      if (at === -1 || at > rest.length - HELD) break;
      if (!isOwn) yield rest.subarray(0, at + 1);
      isOwn = isOwnDatabase(rest.subarray(at, at + HELD));
      rest = rest.subarray(at + 1);
    }
    const cut = Math.max(0, rest.length - HELD);
    if (!isOwn && cut > 0) yield rest.subarray(0, cut);
    held = Buffer.from(rest.subarray(cut));
  }
  for (let at = next(held, isOwn); at !== -1; at = next(held, isOwn)) {
    if (!isOwn) yield held.subarray(0, at + 1);
    isOwn = isOwnDatabase(held.subarray(at));
    held = held.subarray(at + 1);
  }
  if (!isOwn) yield held;
}

/**
 * Where the next database begins, or the end of an own one; the line break before it is the last
 * byte of what came before.
 */
function next(bytes: Buffer, isOwn: boolean): number {
  const places = (isOwn ? [BEGIN, ...ENDS] : [BEGIN]).map((mark) => bytes.indexOf(mark));
  return places
    .filter((at) => at !== -1)
    .reduce((first, at) => (first === -1 ? at : Math.min(first, at)), -1);
}

function isOwnDatabase(bytes: Buffer): boolean {
  const [, name] = /^\n-- Current Database: `((?:[^`]|``)*)`/.exec(bytes.toString("utf8")) ?? [];
  return name !== undefined && OWN_DATABASES.includes(name.toLowerCase());
}

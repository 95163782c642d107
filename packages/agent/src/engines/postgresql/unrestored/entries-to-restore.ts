import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { Child } from "../../../processes/child.ts";
import { feed } from "../../../processes/feed.ts";
import type { DatabaseObject } from "../../content/tagged-objects.ts";

const ENTRY = /^\d+; /;
/** Event triggers, and comments on objects that the copy lacks. */
const LEFT_OUT = /^\d+; \d+ \d+ (?:EVENT TRIGGER - |COMMENT - (?:EVENT TRIGGER|PUBLICATION|SUBSCRIPTION) )/;
/** A schema's name, and then its owner's. */
const SCHEMA = /^\d+; \d+ \d+ SCHEMA - (\S+) (.*)$/;

export interface NotToRestore {
  /** Objects of the dump that a restore test does not create; null if they are unknown. */
  readonly unrestored: readonly DatabaseObject[] | null;
  /** Schemas that exist before the dump creates them. */
  readonly schemas: ReadonlySet<string>;
}

export interface EntriesToRestore {
  /** For pg_restore's `--use-list`; null for all entries. */
  readonly entries: string | null;
  /** Whether the dump creates none of `schemas` then. */
  readonly leavesOutSchemas: boolean;
}

/**
 * The entries that pg_restore restores, if the dump has some that only a list can leave out. All of
 * them if it cannot be listed. `list` starts `pg_restore --list`, which reads the dump's beginning.
 */
export async function entriesToRestore(
  { unrestored, schemas }: NotToRestore,
  list: () => Promise<Child>,
  beginning: readonly Buffer[] = [],
): Promise<EntriesToRestore> {
  const hasUnrestored =
    unrestored?.some(({ kind }) => kind === "event_trigger" || kind === "comment") === true;
  if (!hasUnrestored && schemas.size === 0) return { entries: null, leavesOutSchemas: true };
  const child = await list();
  const listed = text(child.stdout);
  try {
    await feed(child.stdin, Readable.from(beginning));
  } catch (error) {
    await child.stop();
    throw error;
  }
  const lines = (await listed).split("\n").filter((line) => ENTRY.test(line));
  // A partial list would leave out entries that should be restored.
  if ((await child.exited).code !== 0) return { entries: null, leavesOutSchemas: schemas.size === 0 };
  const found = linesOfSchemas(lines, schemas);
  const kept = lines.filter((line) => !(hasUnrestored && LEFT_OUT.test(line)) && found?.has(line) !== true);
  return {
    entries: kept.map((line) => `${line.slice(0, line.indexOf(";") + 1)}\n`).join(""),
    leavesOutSchemas: found !== null,
  };
}

/**
 * The lines of these schemas. Null if that is not certain, because a list does not say where a name
 * with a space ends.
 */
function linesOfSchemas(lines: readonly string[], schemas: ReadonlySet<string>): ReadonlySet<string> | null {
  const found = new Map<string, string>();
  for (const schema of schemas) if (!/^[!-~]+$/.test(schema)) return null;
  for (const line of lines) {
    const [, name = "", owner = ""] = SCHEMA.exec(line) ?? [];
    if (!schemas.has(name)) continue;
    if (found.has(name) || !/^\S+$/.test(owner)) return null;
    found.set(name, line);
  }
  return new Set(found.values());
}

import { Readable } from "node:stream";
import type { Child } from "../../../processes/child.ts";
import { cutLines } from "../../../processes/cut-lines.ts";
import { feed } from "../../../processes/feed.ts";
import type { DatabaseObject } from "../../content/tagged-objects.ts";
import { EntryList } from "./entry-list.ts";

const ENTRY = /^(\d+); /;
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
  const reading = readList(cutLines(child.stdout), hasUnrestored, schemas);
  // Awaited only if the dump could be fed.
  reading.catch(() => undefined);
  try {
    await feed(child.stdin, Readable.from(beginning));
  } catch (error) {
    await child.stop();
    throw error;
  }
  const { all, ofSchemas } = await reading;
  const entries = all.end();
  // A partial list would leave out entries that should be restored.
  if ((await child.exited).code !== 0 || entries === null)
    return { entries: null, leavesOutSchemas: schemas.size === 0 };
  return ofSchemas === null
    ? { entries, leavesOutSchemas: false }
    : { entries: without(entries, ofSchemas), leavesOutSchemas: true };
}

interface ReadList {
  /** Those of schemas too. */
  readonly all: EntryList;
  /**
   * The schemas' entries. Null if they are not certain, because a list does not say where a name
   * with a space ends.
   */
  readonly ofSchemas: readonly string[] | null;
}

async function readList(
  lines: AsyncIterable<string>,
  hasUnrestored: boolean,
  schemas: ReadonlySet<string>,
): Promise<ReadList> {
  const all = new EntryList();
  const found = new Map<string, string>();
  let isCertain = [...schemas].every((schema) => /^[!-~]+$/.test(schema));
  for await (const line of lines) {
    const id = ENTRY.exec(line)?.[1];
    if (id === undefined || (hasUnrestored && LEFT_OUT.test(line))) continue;
    all.add(id);
    const [, name = "", owner = ""] = SCHEMA.exec(line) ?? [];
    if (!schemas.has(name)) continue;
    if (found.has(name) || !/^\S+$/.test(owner)) isCertain = false;
    found.set(name, id);
  }
  return { all, ofSchemas: isCertain ? [...found.values()] : null };
}

function without(entries: string, ids: readonly string[]): string {
  return ids.reduce((left, id) => `\n${left}`.replace(`\n${id};\n`, "\n").slice(1), entries);
}

import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { Child } from "../../../processes/child.ts";
import { feed } from "../../../processes/feed.ts";
import type { DatabaseObject } from "../../content/tagged-objects.ts";

/** Event triggers, and comments on objects that the copy lacks. */
const LEFT_OUT = /^\d+; \d+ \d+ (?:EVENT TRIGGER - |COMMENT - (?:EVENT TRIGGER|PUBLICATION|SUBSCRIPTION) )/;

/**
 * The entries that pg_restore restores, for its `--use-list`, if the dump has some that only a list
 * can leave out. Null if it has none, or cannot be listed. `list` starts `pg_restore --list`, which
 * reads the dump's beginning.
 */
export async function entriesToRestore(
  unrestored: readonly DatabaseObject[] | null,
  list: () => Promise<Child>,
  beginning: readonly Buffer[] = [],
): Promise<string | null> {
  if (unrestored?.some(({ kind }) => kind === "event_trigger" || kind === "comment") !== true) return null;
  const child = await list();
  const listed = text(child.stdout);
  try {
    await feed(child.stdin, Readable.from(beginning));
  } catch (error) {
    await child.stop();
    throw error;
  }
  const lines = (await listed).split("\n").filter((line) => /^\d+; /.test(line) && !LEFT_OUT.test(line));
  // A partial list would leave out entries that should be restored.
  if ((await child.exited).code !== 0) return null;
  return lines.map((line) => `${line.slice(0, line.indexOf(";") + 1)}\n`).join("");
}

import type { Child } from "../../../processes/child.ts";
import { decodeSql } from "../printed/dump-encodings.ts";
import { feed } from "../../../processes/feed.ts";
import { stopIfAborted } from "../../../errors/run-error.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { type Needs, needsOf, schemasMadeFor } from "../database/loading-role.ts";
import { type PrivilegeStatements, privilegeStatements } from "../privileges/privilege-statements.ts";
import type { DatabaseObject } from "../../content/tagged-objects.ts";
import { unrestoredInDump } from "../unrestored/unrestored-in-dump.ts";
import type { Wanted } from "./wanted-of-dump.ts";
import {
  type EntriesToRestore,
  entriesToRestore,
  type NotToRestore,
} from "../unrestored/entries-to-restore.ts";

/** The table of contents is at the start of an archive, and is no longer than this. */
const MAX_HEAD = 256 << 20;
/** Extensions come right after the schemas, policies late. */
const MAX_SQL = 64 << 20;

export interface LookedInto {
  readonly needs: Needs;
  /** Null if nobody asked for them, or if they cannot be read. */
  readonly privileges: PrivilegeStatements | null;
  /** Objects that a restore test does not create; null for the same reasons. */
  readonly unrestored: readonly DatabaseObject[] | null;
  readonly restored: EntriesToRestore;
  /** The whole archive, from its beginning. */
  readonly content: AsyncIterable<Buffer>;
  /** For a caller that does not want the content. */
  readonly close: () => Promise<void>;
}

/**
 * Finds out what must exist before an archive in custom or tar format can be restored, from what
 * pg_restore lists. pg_restore gets the archive until it has read enough. Anything wrong with the
 * archive shows later, when it is restored.
 * @throws RunError, and any error from the content.
 */
export async function lookIntoArchive(
  server: ScratchServer,
  content: AsyncIterable<Buffer>,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<LookedInto> {
  const pieces = content[Symbol.asyncIterator]();
  const head: Buffer[] = [];
  const child = await listing(server, [], signal);
  const beginning = beginningOf(child);
  let isOver = false;
  void child.exited.then(() => (isOver = true));
  async function* untilOver(): AsyncGenerator<Buffer, void, undefined> {
    for (let bytes = 0; bytes < MAX_HEAD && !isOver;) {
      const next = await pieces.next();
      if (next.done === true) return;
      // A piece is valid only until the next one is requested.
      const piece = Buffer.from(next.value);
      head.push(piece);
      bytes += piece.length;
      yield piece;
    }
  }
  try {
    await feed(child.stdin, untilOver());
    await child.exited;
    stopIfAborted(signal);
    const looked = lookedInto(await beginning, wanted);
    const restored = await entriesToRestore(
      notToRestore(looked),
      () => server.run("pg_restore", { args: LIST, isFed: true, signal }),
      head,
    );
    return {
      ...looked,
      restored,
      content: all(head, pieces),
      close: async () => {
        await pieces.return?.();
      },
    };
  } catch (error) {
    await child.stop();
    await pieces.return?.();
    throw error;
  }
}

/**
 * The same for a dump that is on the disk of the server's programs.
 * @throws RunError
 */
export async function lookIntoFile(
  server: ScratchServer,
  { format, path }: { readonly format: string; readonly path: string },
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Omit<LookedInto, "content" | "close">> {
  const dump = [`--format=${format}`, path];
  const child = await listing(server, dump, signal);
  child.stdin.end();
  const beginning = await beginningOf(child);
  await child.exited;
  stopIfAborted(signal);
  const looked = lookedInto(beginning, wanted);
  const list = () => server.run("pg_restore", { args: [...LIST, ...dump], isFed: true, signal });
  return { ...looked, restored: await entriesToRestore(notToRestore(looked), list) };
}

function notToRestore({ needs, unrestored }: Pick<LookedInto, "needs" | "unrestored">): NotToRestore {
  return { unrestored, schemas: schemasMadeFor(needs) };
}

interface Beginning {
  readonly sql: string;
  readonly isWhole: boolean;
}

const LIST = ["--list"];

/** If only a part of the SQL was read, privileges and unrestored objects are unknown. */
function lookedInto(
  { sql, isWhole }: Beginning,
  wanted: Wanted,
): Pick<LookedInto, "needs" | "privileges" | "unrestored"> {
  return {
    needs: needsOf(sql),
    privileges: wanted.privileges && isWhole ? privilegeStatements(sql) : null,
    unrestored: wanted.unrestored && isWhole ? unrestoredInDump(sql) : null,
  };
}

function listing(server: ScratchServer, args: readonly string[], signal: AbortSignal): Promise<Child> {
  return server.run("pg_restore", {
    args: ["--file=-", "--create", "--section=pre-data", "--section=post-data", ...args],
    isFed: true,
    signal,
  });
}

async function beginningOf({ stdout }: Child): Promise<Beginning> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of stdout) {
    const bytesOf = piece as Buffer;
    if (bytes < MAX_SQL) pieces.push(Buffer.from(bytesOf));
    bytes += bytesOf.length;
  }
  const beginning = Buffer.concat(pieces);
  return { sql: decodeSql(beginning), isWhole: beginning.length === bytes };
}

async function* all(head: Buffer[], pieces: AsyncIterator<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  try {
    for (let piece = head.shift(); piece !== undefined; piece = head.shift()) yield piece;
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) yield next.value;
  } finally {
    await pieces.return?.();
  }
}

import type { Child } from "../../processes/child.ts";
import { feed } from "../../processes/feed.ts";
import { stopIfAborted } from "../../errors/run-error.ts";
import type { ScratchServer } from "../scratch-server.ts";
import { type Needs, needsOf } from "./loading-role.ts";

/** Its table of contents comes first in an archive, and is no longer than that. */
const MAX_HEAD = 256 << 20;
/** Extensions come right after the schemas, policies late. */
const MAX_SQL = 64 << 20;

export interface LookedInto {
  readonly needs: Needs;
  /** All of it, from its beginning. */
  readonly content: AsyncIterable<Buffer>;
  /** For whoever does not want the content. */
  readonly close: () => Promise<void>;
}

/**
 * What an archive in custom or tar format names that has to be there first, by what pg_restore says of it: it is given the archive until it has read enough.
 * What is wrong with the archive shows when it is restored.
 * @throws RunError, and whatever the content throws.
 */
export async function lookIntoArchive(
  server: ScratchServer,
  content: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<LookedInto> {
  const pieces = content[Symbol.asyncIterator]();
  const head: Buffer[] = [];
  const child = await listing(server, [], signal);
  const sql = beginningOf(child);
  let isOver = false;
  void child.exited.then(() => (isOver = true));
  async function* untilOver(): AsyncGenerator<Buffer, void, undefined> {
    for (let bytes = 0; bytes < MAX_HEAD && !isOver;) {
      const next = await pieces.next();
      if (next.done === true) return;
      // A piece is valid until the next one is asked for.
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
    return {
      needs: needsOf(await sql),
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

/** The same for one in directory format. @throws RunError */
export async function lookIntoDirectory(
  server: ScratchServer,
  path: string,
  signal: AbortSignal,
): Promise<Needs> {
  const child = await listing(server, ["--format=directory", path], signal);
  child.stdin.end();
  const sql = await beginningOf(child);
  await child.exited;
  stopIfAborted(signal);
  return needsOf(sql);
}

function listing(server: ScratchServer, args: readonly string[], signal: AbortSignal): Promise<Child> {
  return server.run("pg_restore", {
    args: [
      "--file=-",
      "--create",
      "--section=pre-data",
      "--section=post-data",
      "--no-owner",
      "--no-privileges",
      ...args,
    ],
    isFed: true,
    signal,
  });
}

async function beginningOf({ stdout }: Child): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of stdout) {
    const bytesOf = piece as Buffer;
    if (bytes < MAX_SQL) pieces.push(Buffer.from(bytesOf));
    bytes += bytesOf.length;
  }
  return Buffer.concat(pieces).toString("utf8");
}

async function* all(head: Buffer[], pieces: AsyncIterator<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  try {
    for (let piece = head.shift(); piece !== undefined; piece = head.shift()) yield piece;
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) yield next.value;
  } finally {
    await pieces.return?.();
  }
}

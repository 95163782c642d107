import { realpath, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { errorCode } from "@attestore/host/errno";
import { readFilePieces, writeFilePieces } from "../../crypto/file-pieces.ts";
import { RunError } from "../../errors/run-error.ts";
import { unreadableSource } from "../unreadable-source.ts";
import { isFull, type Response } from "./protocol.ts";
import type { SqliteProcess } from "./sqlite-process.ts";
import { requireVisible, superJournalOf } from "./super-journal.ts";

/** SQLITE_READONLY_ROLLBACK: a reader would first have to undo half of a transaction. */
const READONLY_ROLLBACK = 776;
/** Each attempt fails if somebody writes meanwhile. */
const ATTEMPTS = 3;

const LEFT = {
  "-journal": "an unfinished transaction",
  "-wal": "a write-ahead log that no other process may share",
} as const;

export function hasHotJournal(response: Response | null): boolean {
  return response?.ok === false && response.code === READONLY_ROLLBACK;
}

/**
 * Whether there is a write-ahead log without the memory that its readers share (FILE-shm), which a
 * reader would have to create beside the database. A killed application may leave that, and one
 * that keeps others out (`locking_mode=exclusive`) has it while it runs.
 */
export async function isLeftWithLog(path: string): Promise<boolean> {
  const source = await realpath(path);
  const [log, shared] = await Promise.all(
    ["-wal", "-shm"].map((suffix) => stat(`${source}${suffix}`).catch(() => null)),
  );
  return (log?.size ?? 0) > 0 && shared === null;
}

/**
 * Copies a database together with the journal or log that an application left next to it, and has
 * SQLite finish that in the copy. The source does not change; its own application will do the same
 * there.
 * @returns whether there is such a copy; false if the journal or log is gone because somebody did
 * it at the source.
 * @throws RunError
 */
export async function copyAndRecover(
  path: string,
  suffix: keyof typeof LEFT,
  target: string,
  { sqlite, signal }: { readonly sqlite: SqliteProcess; readonly signal: AbortSignal },
): Promise<boolean> {
  const source = await realpath(path);
  const beside = `${source}${suffix}`;
  const targetBeside = `${target}${suffix}`;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    await rm(target, { force: true });
    await rm(targetBeside, { force: true });
    const before = await stateOf(source, beside);
    if (before === null) return false;
    await writeFilePieces(targetBeside, piecesOf(beside), signal);
    await writeFilePieces(target, readFilePieces(source), signal);
    if ((await stateOf(source, beside)) !== before) continue;
    const shared = suffix === "-journal" ? await superJournalOf(targetBeside) : null;
    if (shared !== null) await requireVisible(shared, source);
    const recovered = await sqlite.request({ op: "recover", path: target });
    // Whoever finishes the transaction at the source removes the file that databases share.
    if (shared !== null && (await stateOf(source, beside)) !== before) continue;
    if (recovered?.ok === true) return true;
    if (recovered !== null && isFull(recovered.code))
      throw new RunError("disk_full", `not enough space in ${dirname(target)} for a copy of ${path}`);
    throw new RunError(
      "dump_failed",
      `SQLite cannot finish ${LEFT[suffix]} of ${path} (${beside}) in a copy: ${recovered?.message ?? "no answer"}`,
    );
  }
  throw new RunError(
    "dump_failed",
    `${path} has ${LEFT[suffix]} (${beside}) and changed while it was copied, ${ATTEMPTS} times: run the backup again`,
  );
}

async function* piecesOf(beside: string): AsyncGenerator<Buffer, void, undefined> {
  try {
    yield* readFilePieces(beside);
  } catch (error) {
    const code = errorCode(error);
    throw code === "EACCES" || code === "EIO" ? unreadableSource(`the file ${beside}`, error) : error;
  }
}

/** Changes when somebody writes to one of the files; null without a journal. */
async function stateOf(...paths: readonly string[]): Promise<string | null> {
  const found = await Promise.all(paths.map((path) => stat(path, { bigint: true }).catch(() => null)));
  if (found.some((each) => each === null)) return null;
  return found.map((each) => `${each?.ino} ${each?.size} ${each?.mtimeNs} ${each?.ctimeNs}`).join();
}

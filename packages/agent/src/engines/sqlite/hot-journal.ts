import { realpath, rm, stat } from "node:fs/promises";
import { readFilePieces, writeFilePieces } from "../../crypto/file-pieces.ts";
import { RunError } from "../../errors/run-error.ts";
import type { Response } from "./protocol.ts";
import type { SqliteProcess } from "./sqlite-process.ts";

/** SQLITE_READONLY_ROLLBACK: a reader would first have to undo half of a transaction. */
const READONLY_ROLLBACK = 776;
/** Each attempt fails if somebody writes meanwhile. */
const ATTEMPTS = 3;

export function hasHotJournal(response: Response | null): boolean {
  return response?.ok === false && response.code === READONLY_ROLLBACK;
}

/**
 * Copies a database together with the journal that a killed application left next to it, and has
 * SQLite undo half of the transaction in the copy. The source does not change; its own application
 * will undo it there.
 * @returns whether there is such a copy; false if the journal is gone because somebody undid the
 * transaction at the source.
 * @throws RunError
 */
export async function copyAndRollBack(
  path: string,
  target: string,
  sqlite: SqliteProcess,
  signal: AbortSignal,
): Promise<boolean> {
  const source = await realpath(path);
  const journal = `${source}-journal`;
  const targetJournal = `${target}-journal`;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    await rm(target, { force: true });
    await rm(targetJournal, { force: true });
    const before = await stateOf(source, journal);
    if (before === null) return false;
    await writeFilePieces(targetJournal, readFilePieces(journal), signal);
    await writeFilePieces(target, readFilePieces(source), signal);
    if ((await stateOf(source, journal)) !== before) continue;
    const rolledBack = await sqlite.request({ op: "roll back", path: target });
    if (rolledBack?.ok === true) return true;
    throw new RunError(
      "dump_failed",
      `SQLite cannot undo the unfinished transaction of ${path} in a copy: ${rolledBack?.message ?? "no answer"}`,
    );
  }
  throw new RunError(
    "dump_failed",
    `${path} has an unfinished transaction (${journal}) and changed while it was copied, ${ATTEMPTS} times: run the backup again`,
  );
}

/** Changes when somebody writes to one of the files; null without a journal. */
async function stateOf(...paths: readonly string[]): Promise<string | null> {
  const found = await Promise.all(paths.map((path) => stat(path, { bigint: true }).catch(() => null)));
  if (found.some((each) => each === null)) return null;
  return found.map((each) => `${each?.ino} ${each?.size} ${each?.mtimeNs} ${each?.ctimeNs}`).join();
}

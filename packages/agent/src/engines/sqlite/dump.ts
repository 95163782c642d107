import type { Stats } from "node:fs";
import { lstat, open, realpath, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { readFilePieces } from "../../crypto/file-pieces.ts";
import { RunError } from "../../errors/run-error.ts";
import { makeScratchDirectory } from "../../sandboxes/process/scratch-directory.ts";
import type { Dump, SourceOf } from "../engine.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import { COUNTING_S } from "../row-counts.ts";
import { signRows } from "./content/sign-rows.ts";
import { copyFailure } from "./copy-failure.ts";
import { describeSqlite } from "./describe.ts";
import { originOfPath } from "../origin.ts";
import { copyAndRecover, hasHotJournal, isLeftWithLog } from "./left-unfinished.ts";
import type { Response } from "./protocol.ts";
import { SqliteProcess } from "./sqlite-process.ts";
import { whileUnopened } from "./unopened-wal.ts";
import { unreadableSource } from "../unreadable-source.ts";
import type { SqliteSettings } from "../../config/engines/sqlite.ts";

/**
 * Copies the database with SQLite's own online backup, which is consistent even if others write
 * meanwhile. The dump is that file.
 */
export async function dumpSqlite(
  source: SourceOf<SqliteSettings>,
  { scratchDir, signal, contentKey }: RunContext,
): Promise<Dump> {
  await requireFile(source.path);
  const scratch = await makeScratchDirectory(scratchDir, null);
  const sqlite = new SqliteProcess(signal);
  const close = async (): Promise<void> => {
    await sqlite.close();
    await scratch.remove();
  };
  try {
    const copy = join(scratch.path, "copy.sqlite");
    const copied = await copyOf(source.path, copy, {
      sqlite,
      contentBudget_ms: contentKey === undefined ? 0 : COUNTING_S * 1000,
      signal,
    });
    if (copied?.ok !== true) throw copyFailure(source.path, scratchDir, copied);
    const described = await describeSqlite(sqlite, copy);
    const { content } = copied;
    const metadata =
      contentKey === undefined || content === undefined
        ? described
        : signRows(described, content, contentKey);
    await sqlite.close();
    const { size } = await stat(copy);
    return {
      origin: await originOfPath(source.path, { application_id: await applicationIdOf(copy) }),
      content: readFilePieces(copy),
      expectedBytes: size,
      metadata: () => Promise.resolve(metadata),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function copyOf(
  path: string,
  target: string,
  {
    sqlite,
    contentBudget_ms,
    signal,
  }: { readonly sqlite: SqliteProcess; readonly contentBudget_ms: number; readonly signal: AbortSignal },
): Promise<Response | null> {
  const copy = async (from: string): Promise<Response | null> => {
    await rm(target, { force: true });
    return sqlite.request({ op: "copy", path: from, target, contentBudget_ms });
  };
  const unopened = await whileUnopened(path, copy);
  if (unopened !== null) return unopened.result;
  if (await isLeftWithLog(path))
    return (await copyAndRecover(path, "-wal", target, { sqlite, signal })) ? { ok: true } : copy(path);
  const copied = await copy(path);
  if (!hasHotJournal(copied)) return copied;
  return (await copyAndRecover(path, "-journal", target, { sqlite, signal })) ? { ok: true } : copy(path);
}

/** What the application wrote into the file's header (sqlite.org/fileformat.html, 1.3), in hex. */
async function applicationIdOf(copy: string): Promise<string> {
  const file = await open(copy);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 68);
    return buffer.subarray(0, bytesRead).toString("hex");
  } finally {
    await file.close();
  }
}

async function requireFile(path: string): Promise<void> {
  try {
    const found = await stat(path);
    if (found.isFile()) return await requireOwnJournals(await realpath(path), found);
  } catch (error) {
    if (error instanceof RunError) throw error;
    throw unreadableSource(`the SQLite database ${path}`, error);
  }
  throw new RunError("source_missing", `${path} is not a file, so it is not a SQLite database`);
}

/**
 * SQLite opens files with these names next to a database and writes to them, for example to the
 * -shm whenever a database in WAL mode is read. Somebody who may create names there could make us
 * write to another file through a hard link.
 */
async function requireOwnJournals(path: string, { uid }: Stats): Promise<void> {
  for (const suffix of ["-wal", "-shm", "-journal"]) {
    const beside = `${path}${suffix}`;
    const stats = await lstat(beside).catch(() => null);
    if (stats === null) continue;
    const isOwn = stats.uid === uid || stats.uid === 0 || stats.uid === process.geteuid?.();
    if (stats.isFile() && stats.nlink === 1 && isOwn) continue;
    throw new RunError(
      "dump_failed",
      `${beside} is a link, not a file, or not owned by the database's owner, and SQLite would write to it: find out who made it`,
    );
  }
}

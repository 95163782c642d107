import { feed } from "../../processes/feed.ts";
import { stopIfAborted } from "../../runs/could-not-run.ts";
import type { ForeignMetadata, Restored, RunContext } from "../engine.ts";
import type { ScratchServer } from "../scratch-server.ts";
import { prepareDatabase } from "./prepare-database.ts";
import { refusalOf } from "./refusal.ts";
import { RestoredPostgresql } from "./restored.ts";

const DATABASE = "restored";

/**
 * Restores a dump into an empty scratch server, which from then on belongs to what is returned; on an error it is closed.
 * @throws RestoreRefused, CouldNotRun, and whatever the content throws.
 */
export async function restoreInto(
  server: ScratchServer,
  metadata: ForeignMetadata,
  content: AsyncIterable<Buffer>,
  { signal }: RunContext,
): Promise<Restored> {
  try {
    await prepareDatabase(server, DATABASE, metadata, signal);
    await runPgRestore(server, DATABASE, content, signal);
    return new RestoredPostgresql(server, DATABASE);
  } catch (error) {
    await server.close();
    stopIfAborted(signal);
    throw error;
  }
}

const RESTORE_ARGUMENTS = [
  // -d with an empty connection string: which database, the environment says.
  "--dbname=",
  "--exit-on-error",
  "--no-password",
  // The scratch server has neither the source's roles nor its tablespaces, and is nobody's publisher.
  "--no-owner",
  "--no-privileges",
  "--no-tablespaces",
  "--no-security-labels",
  "--no-publications",
  "--no-subscriptions",
];

async function runPgRestore(
  server: ScratchServer,
  database: string,
  content: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  const errorsBefore = server.errors.length;
  const child = await server.run("pg_restore", {
    args: RESTORE_ARGUMENTS,
    env: { PGDATABASE: database },
    signal,
  });
  child.stdout.resume();
  try {
    await feed(child.stdin, content);
  } catch (error) {
    await child.stop();
    throw error;
  }
  const exit = await child.exited;
  stopIfAborted(signal);
  if (exit.code !== 0) throw refusalOf(exit, server, server.errors.slice(errorsBefore));
}

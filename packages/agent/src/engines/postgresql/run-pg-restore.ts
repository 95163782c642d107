import type { Child, Exit } from "../../processes/child.ts";
import { feed } from "../../processes/feed.ts";
import { stopIfAborted } from "../../runs/could-not-run.ts";
import type { ScratchServer } from "../scratch-server.ts";
import { refusalOf } from "./refusal.ts";

const ARGUMENTS = [
  // An empty connection string: which database, the environment says.
  "--dbname=",
  "--exit-on-error",
  "--no-password",
  // The scratch server has neither the source's owners nor its tablespaces, and is nobody's publisher.
  "--no-owner",
  "--no-privileges",
  "--no-tablespaces",
  "--no-security-labels",
  "--no-publications",
  "--no-subscriptions",
];

/** Restores a dump in custom or tar format. @throws RestoreRefused, CouldNotRun, and whatever the content throws. */
export async function runPgRestore(
  server: ScratchServer,
  database: string,
  content: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  await restored(server, database, [], signal, async (child) => {
    try {
      await feed(child.stdin, content);
    } catch (error) {
      await child.stop();
      throw error;
    }
  });
}

/** Restores a dump in directory format, several tables at once. @throws RestoreRefused, CouldNotRun. */
export async function restoreDirectory(
  server: ScratchServer,
  database: string,
  { path, jobs }: { readonly path: string; readonly jobs: number },
  signal: AbortSignal,
): Promise<void> {
  const args = ["--format=directory", `--jobs=${jobs}`, path];
  await restored(server, database, args, signal, (child) => {
    child.stdin.end();
    return Promise.resolve();
  });
}

async function restored(
  server: ScratchServer,
  database: string,
  args: readonly string[],
  signal: AbortSignal,
  give: (child: Child) => Promise<void>,
): Promise<void> {
  const errorsBefore = server.errors.length;
  const child = await server.run("pg_restore", {
    args: [...ARGUMENTS, ...args],
    env: { PGDATABASE: database },
    isFed: true,
    signal,
  });
  child.stdout.resume();
  await give(child);
  const exit: Exit = await child.exited;
  stopIfAborted(signal);
  if (exit.code !== 0) throw refusalOf(exit, server, server.errors.slice(errorsBefore));
}

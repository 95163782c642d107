import type { Child, Exit } from "../../processes/child.ts";
import { feed } from "../../processes/feed.ts";
import { stopIfAborted } from "../../errors/run-error.ts";
import type { ScratchServer } from "../scratch-server.ts";
import { lookIntoArchive, lookIntoDirectory } from "./archive-start.ts";
import { applySettings } from "./database-settings.ts";
import { giveToLoader, LOADING_ROLE, type Needs } from "./loading-role.ts";
import { firstError } from "./own-error.ts";
import { passingOver } from "./passing-over.ts";
import { refusalOf } from "./refusal.ts";

const ARGUMENTS = [
  // An empty connection string: which database, the environment says.
  "--dbname=",
  "--no-password",
  // The scratch server has neither the source's owners nor its tablespaces, and is nobody's
  // publisher.
  "--no-owner",
  "--no-privileges",
  "--no-tablespaces",
  "--no-security-labels",
  "--no-publications",
  "--no-subscriptions",
];

/**
 * Who loads a dump. Of a database of the customer's its own role does, as sandbox.database says.
 */
const loaderOf = ({ runtime }: ScratchServer): string | null =>
  runtime.kind === "uri" ? null : LOADING_ROLE;

/**
 * So many statements that make something are restored in one transaction. Each takes up to four
 * locks, of the 100,000 that a scratch server has room for.
 */
const MAX_IN_TRANSACTION = 10_000;

/**
 * Restores a dump in custom or tar format.
 * @returns whether the rows of each table are in the dump's order. They are if the table was made in the transaction that fills it: else
 * PostgreSQL puts a short row into the room that longer ones have left before it.
 * @throws RestoreRefused, RunError, and whatever the content throws.
 */
export async function runPgRestore(
  server: ScratchServer,
  database: string,
  content: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<boolean> {
  const role = loaderOf(server);
  let schemas: ReadonlySet<string> = new Set();
  let isAtOnce = false;
  let dump = content;
  if (role !== null) {
    const looked = await lookIntoArchive(server, content, signal);
    dump = looked.content;
    isAtOnce = !looked.needs.isAlone && looked.needs.statements <= MAX_IN_TRANSACTION;
    schemas = await prepareFor(server, database, looked.needs, signal).catch(async (error: unknown) => {
      await looked.close();
      throw error;
    });
  }
  isAtOnce &&= schemas.size === 0;
  const args = isAtOnce ? ["--single-transaction"] : [];
  await restored({ server, database, role, schemas, args, signal }, async (child) => {
    try {
      await feed(child.stdin, dump);
    } catch (error) {
      await child.stop();
      throw error;
    }
  });
  return isAtOnce;
}

/**
 * Restores a dump in directory format, several tables at once. @returns as above. @throws
 * RestoreRefused, RunError.
 */
export async function restoreDirectory(
  server: ScratchServer,
  database: string,
  { path, jobs }: { readonly path: string; readonly jobs: number },
  signal: AbortSignal,
): Promise<boolean> {
  const role = loaderOf(server);
  const schemas =
    role === null
      ? new Set<string>()
      : await prepareFor(server, database, await lookIntoDirectory(server, path, signal), signal);
  const args = ["--format=directory", `--jobs=${jobs}`, path];
  await restored({ server, database, role, schemas, args, signal }, (child) => {
    child.stdin.end();
    return Promise.resolve();
  });
  // With several jobs pg_restore empties each table in the transaction that fills it.
  return jobs > 1;
}

async function prepareFor(
  server: ScratchServer,
  database: string,
  needs: Needs,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const schemas = await giveToLoader(server, database, needs, signal);
  await applySettings(server, database, LOADING_ROLE, needs.settings, signal);
  return schemas;
}

interface Restore {
  readonly server: ScratchServer;
  readonly database: string;
  readonly role: string | null;
  /** Made beforehand: that the dump makes them too is no error. */
  readonly schemas: ReadonlySet<string>;
  readonly args: readonly string[];
  readonly signal: AbortSignal;
}

async function restored(
  { server, database, role, schemas, args, signal }: Restore,
  give: (child: Child) => Promise<void>,
): Promise<void> {
  const errorsBefore = server.errors.length;
  const child = await server.run("pg_restore", {
    args: [...ARGUMENTS, ...(schemas.size === 0 ? ["--exit-on-error"] : []), ...args],
    env: { PGDATABASE: database, ...(role === null ? {} : { PGUSER: role }) },
    isFed: true,
    signal,
  });
  child.stdout.resume();
  const errors = passingOver(schemas, child);
  await give(child);
  const exit: Exit = await child.exited;
  stopIfAborted(signal);
  if (exit.code === 0 || (exit.code === 1 && errors.onlyPassedOver())) return;
  const first = errors.first(exit);
  const sqlstate = await firstError(server, errorsBefore, (each) => !errors.passed(each), first.stderr);
  throw refusalOf(first, server, sqlstate);
}

import { join } from "node:path";
import { Readable } from "node:stream";
import type { Child, Exit } from "../../../processes/child.ts";
import { feed } from "../../../processes/feed.ts";
import { stopIfAborted } from "../../../errors/run-error.ts";
import type { DatabaseObject } from "../../content/tagged-objects.ts";
import type { ScratchFiles, ScratchServer } from "../../scratch-server.ts";
import { type LookedInto, lookIntoArchive, lookIntoFile } from "./archive-start.ts";
import { extensionRowsFirst } from "./extension-rows.ts";
import { NOTHING_WANTED, type Wanted } from "./wanted-of-dump.ts";
import { applySettings } from "../database/database-settings.ts";
import { giveToLoader, LOADING_ROLE, type Needs } from "../database/loading-role.ts";
import { firstError } from "../connection/server-error.ts";
import { stopAtError } from "./stop-at-error.ts";
import { tryPrivileges } from "../privileges/try-privileges.ts";
import { refusalOf } from "./refusal.ts";

/** Facts about a copy that come from its loading and from its dump. */
export interface Loaded {
  /** Whether each table has its rows in the dump's order. */
  readonly keepsOrder: boolean;
  /** Owners and grants as the dump gives them; null if that is unknown. */
  readonly privileges: readonly DatabaseObject[] | null;
  /** How many grants the dump gives; null if that is unknown. */
  readonly grants: number | null;
  /** What a restore with owners may not build, for people. */
  readonly notBuilt: readonly string[];
  /** Objects that the dump has and the copy lacks; null if that is unknown. */
  readonly unrestored: readonly DatabaseObject[] | null;
}

export const NOTHING_KNOWN: Loaded = {
  keepsOrder: false,
  privileges: null,
  grants: null,
  notBuilt: [],
  unrestored: null,
};

export interface LoadOptions {
  readonly jobs?: number;
  readonly wanted?: Wanted;
}

const ARGUMENTS = [
  // An empty connection string: the environment names the database.
  "--dbname=",
  "--no-password",
  // The scratch server has none of the source's owners and tablespaces, and publishes to nobody.
  "--no-owner",
  "--no-privileges",
  "--no-tablespaces",
  "--no-security-labels",
  "--no-publications",
  "--no-subscriptions",
];

/**
 * The role that loads the dump. In a database of the customer, it is the role in sandbox.database.
 */
const loaderOf = ({ runtime }: ScratchServer): string | null =>
  runtime.kind === "uri" ? null : LOADING_ROLE;

/**
 * At most this many statements that create something run in one transaction. Each takes up to four
 * locks, and a scratch server has room for 100,000.
 */
const MAX_IN_TRANSACTION = 10_000;

/**
 * Restores a dump in custom or tar format from a stream, or, with several jobs, a dump in custom
 * format that is on the server's disk already. Rows come in the dump's order if their table was
 * created in the transaction that fills it. Otherwise PostgreSQL puts short rows into gaps that
 * longer rows left before them.
 * @throws RestoreRefused, RunError, and any error from the content.
 */
export async function runPgRestore(
  server: ScratchServer,
  database: string,
  content: AsyncIterable<Buffer>,
  signal: AbortSignal,
  { jobs = 1, wanted = NOTHING_WANTED }: LoadOptions = {},
): Promise<Loaded> {
  if (server.dump !== undefined)
    return restoreFile(server, database, { format: "custom", path: server.dump, jobs, wanted }, signal);
  const role = loaderOf(server);
  let schemas: ReadonlySet<string> = new Set();
  let isAtOnce = false;
  let dump = content;
  let found: Found | null = null;
  if (role !== null) {
    const looked = await lookIntoArchive(server, content, wanted, signal);
    dump = looked.content;
    found = looked;
    isAtOnce = !looked.needs.isAlone && looked.needs.statements <= MAX_IN_TRANSACTION;
    schemas = await prepareFor(server, database, looked.needs, signal).catch(async (error: unknown) => {
      await looked.close();
      throw error;
    });
  }
  const only = await onlyEntries(server, database, found, signal);
  // An error that is passed over would end a transaction.
  if (only.length > 0 && found?.restored.leavesOutSchemas === true) schemas = new Set();
  isAtOnce &&= schemas.size === 0;
  const args = isAtOnce ? ["--single-transaction"] : [];
  await restored(
    { server, database, role, schemas, only, args, isFedDirectly: true, signal },
    async (child) => {
      try {
        await feed(child.stdin, dump);
      } catch (error) {
        await child.stop();
        throw error;
      }
    },
  );
  return { keepsOrder: isAtOnce, ...(await known(server, database, found, signal)) };
}

type Found = Pick<LookedInto, "privileges" | "unrestored" | "restored">;

async function known(
  server: ScratchServer,
  database: string,
  found: Found | null,
  signal: AbortSignal,
): Promise<Omit<Loaded, "keepsOrder">> {
  const { privileges = null, unrestored = null } = found ?? {};
  const tried = privileges === null ? null : await tryPrivileges(server, database, privileges, signal);
  return {
    privileges: tried?.listed ?? null,
    grants: tried?.grants ?? null,
    notBuilt: tried?.notBuilt ?? [],
    unrestored,
  };
}

/**
 * The arguments with which pg_restore leaves out entries that need a superuser, and schemas that
 * exist already. Without a directory for the list of entries, pg_restore tries them too, and fails.
 */
async function onlyEntries(
  { files }: ScratchServer,
  database: string,
  found: Found | null,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const entries = found?.restored.entries ?? null;
  if (entries === null || files === null) return [];
  return listOf(files, `entries-${database}`, entries, signal);
}

async function listOf(
  files: ScratchFiles,
  name: string,
  entries: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  await files.write(name, Readable.from([Buffer.from(entries)]), signal);
  return [`--use-list=${join(files.directory, name)}`];
}

/** A dump on the disk of the server's own programs. */
export interface DumpOnDisk extends Required<LoadOptions> {
  readonly format: "custom" | "directory";
  readonly path: string;
}

/**
 * Restores such a dump, several tables at once.
 * @throws RestoreRefused, RunError.
 */
export async function restoreFile(
  server: ScratchServer,
  database: string,
  { format, path, jobs, wanted }: DumpOnDisk,
  signal: AbortSignal,
): Promise<Loaded> {
  const role = loaderOf(server);
  const looked = role === null ? null : await lookIntoFile(server, { format, path }, wanted, signal);
  const schemas =
    looked === null ? new Set<string>() : await prepareFor(server, database, looked.needs, signal);
  const dump = [`--format=${format}`, path];
  const common = { server, database, role, isFedDirectly: false, signal };
  let only = await onlyEntries(server, database, looked, signal);
  const { files } = server;
  if (looked !== null && files !== null && jobs > 1) {
    const list = () => server.run("pg_restore", { args: ["--list", ...dump], isFed: true, signal });
    const rows = await extensionRowsFirst(server, database, looked.restored.entries, list, signal);
    if (rows !== null) {
      const first = await listOf(files, `first-${database}`, rows.first, signal);
      await restored({ ...common, schemas: new Set(), only: first, args: dump }, nothingFed);
      only = await listOf(files, `entries-${database}`, rows.others, signal);
    }
  }
  const args = [`--jobs=${jobs}`, ...dump];
  // All jobs together take about as much memory as one alone.
  const env = { PGOPTIONS: `-c maintenance_work_mem=${Math.max(64, Math.floor(256 / jobs))}MB` };
  await restored({ ...common, schemas, only, args, env }, nothingFed);
  return {
    // With several jobs, pg_restore truncates each table in the transaction that fills it.
    keepsOrder: jobs > 1,
    ...(await known(server, database, looked, signal)),
  };
}

function nothingFed(child: Child): Promise<void> {
  child.stdin.end();
  return Promise.resolve();
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
  /** Schemas that already exist. The dump creates them too, and that is no error. */
  readonly schemas: ReadonlySet<string>;
  /** The arguments that `onlyEntries` returned. */
  readonly only: readonly string[];
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly isFedDirectly: boolean;
  readonly signal: AbortSignal;
}

async function restored(
  { server, database, role, schemas, only, args, env, isFedDirectly, signal }: Restore,
  give: (child: Child) => Promise<void>,
): Promise<void> {
  const errorsBefore = server.errors.length;
  const child = await server.run("pg_restore", {
    args: [...ARGUMENTS, ...(schemas.size === 0 ? ["--exit-on-error"] : []), ...only, ...args],
    env: { PGDATABASE: database, ...(role === null ? {} : { PGUSER: role }), ...env },
    isFed: true,
    isFedDirectly,
    signal,
  });
  child.stdout.resume();
  const errors = stopAtError(schemas, child);
  await give(child);
  const exit: Exit = await child.exited;
  stopIfAborted(signal);
  if (exit.code === 0 || (exit.code === 1 && errors.onlyPassedOver())) return;
  const first = errors.first(exit);
  const sqlstate = await firstError(server, errorsBefore, (each) => !errors.passed(each), first.stderr);
  throw refusalOf(first, server, sqlstate);
}

import { feed } from "../../../processes/feed.ts";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import { type ForeignMetadata, type Restored, RestoreRefused } from "../../engine.ts";
import type { RunContext } from "../../../sandboxes/run-context.ts";
import { textsOf } from "../../foreign-texts.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { oneCutShort } from "../../one-cut-short.ts";
import { captureTail } from "../../capture-tail.ts";
import { productOf, rowLayoutOf } from "../connection/programs.ts";
import { refusalOf } from "./refusal.ts";
import { createDefiners, limitAccounts, LOADER } from "../copy/accounts.ts";
import { DumpCounter } from "../content/dump-counter.ts";
import { expectedOfMariadb } from "../content/expected-objects.ts";
import { DeclaredSql } from "../declared/declared-sql.ts";
import { withoutOwnName } from "./own-name.ts";
import { withoutOwnDatabases } from "./own-databases.ts";
import { withoutServerStatements } from "./without-server-statements.ts";
import { withoutPlacesOfFiles } from "./without-data-directories.ts";
import { RestoredMariadb } from "./restored.ts";
import { definersOf, OWN_DATABASES } from "../schema.ts";
import { type MariadbSession, quoted, SessionEnded } from "../connection/session.ts";
import { connectionFailed, rowsOf } from "../connection/session-error.ts";

/**
 * Another program's dump may have no `CREATE DATABASE`. It is loaded into this database. Our own
 * dumps make theirs, and one of these may have the same name.
 */
const DATABASE = "restored";

/**
 * Loads a dump into an empty scratch server. Closing what it returns closes the server; after an
 * error the server is closed.
 * @throws RestoreRefused, RunError, and any error from the content.
 */
export async function restoreInto(
  server: ScratchServer,
  metadata: ForeignMetadata,
  content: AsyncIterable<Buffer>,
  { signal, contentKey, readsDump }: RunContext,
): Promise<Restored> {
  const { engine_version } = metadata;
  const version = typeof engine_version === "string" ? engine_version : "";
  const layout = rowLayoutOf({ product: productOf(version), version });
  const dump = readsDump === true && contentKey !== undefined ? new DumpCounter(layout, contentKey) : null;
  const made = readsDump === true ? new DeclaredSql(DATABASE) : null;
  let admin = null as MariadbSession | null;
  try {
    const own = metadata["has_views_of_server"] === true ? "readable" : "hidden";
    admin = await limitAccounts(server, signal, own);
    await requireStorageEngines(admin, textsOf(metadata["storage_engines"], 64));
    const named = textsOf(metadata["databases"], 64);
    const into = named.length === 0 ? DATABASE : null;
    if (into !== null)
      rowsOf(await admin.run(`create database ${quoted(into)}`), "preparing the scratch server");
    await createDefiners(admin, textsOf(metadata["definers"], 400), own);
    const asking = admin;
    await load(server, read(content, dump, made), {
      into,
      functions: functionsIn(metadata),
      databases: into === null ? named : null,
      admin,
      signal,
    }).catch(async (error: unknown) => {
      throw (await raisedByItself(asking, error))
        ? new RestoreRefused("the dump cannot be loaded: code in it raised an error or closed the connection")
        : error;
    });
    if (made?.isCutShort === true) throw oneCutShort();
    const databases = await restoredDatabases(admin, into);
    const missing = named.filter((name) => !databases.includes(name));
    if (missing.length > 0)
      throw new RestoreRefused(`the dump has no database ${missing.join(", ").slice(0, 200)}`);
    if (databases.length === 0) throw new RestoreRefused("the dump has no database and no table");
    await createDefiners(admin, await definersOf(admin, databases), own);
    const rows = dump?.tables().map((each) => ({ ...each, database: each.database || DATABASE })) ?? null;
    const held = rows === null ? null : { rows, objects: made?.end() ?? null };
    return new RestoredMariadb(server, admin, [...new Set([...named, ...databases])], held);
  } catch (error) {
    await admin?.close();
    await server.close();
    stopIfAborted(signal);
    throw error instanceof SessionEnded ? connectionFailed("the scratch server broke", error) : error;
  }
}

async function* read(
  content: AsyncIterable<Buffer>,
  ...readers: readonly (DumpCounter | DeclaredSql | null)[]
): AsyncGenerator<Buffer, void, undefined> {
  for await (const piece of content) {
    for (const reader of readers) reader?.add(piece);
    yield piece;
  }
}

/**
 * Whether code in the dump raised an error itself (SIGNAL can raise any number) or closed a
 * connection. If that counted as a fault of the server, a hostile dump could prevent a result. No
 * honest dump does either while it is loaded.
 */
async function raisedByItself(admin: MariadbSession, error: unknown): Promise<boolean> {
  if (!(error instanceof RunError)) return false;
  const asked = await admin
    .run("show global status where variable_name in ('Com_signal', 'Com_resignal', 'Com_kill')")
    .catch(() => null);
  return asked?.ok === true && asked.rows.some(([, times]) => Number(times) > 0);
}

/** Without its storage engine, a table would silently be made in another one. */
async function requireStorageEngines(session: MariadbSession, needed: readonly string[]): Promise<void> {
  const rows = rowsOf(
    await session.run(
      "select lower(engine) from information_schema.engines where support in ('YES', 'DEFAULT')",
    ),
    "listing the storage engines",
  );
  const available = rows.map(([name]) => name);
  const lacking = needed.filter((name) => !available.includes(name.toLowerCase()));
  if (lacking.length === 0) return;
  throw new RunError(
    "sandbox_lacks",
    `the backup has tables in ${lacking.join(", ").slice(0, 200)}, which the server here does not have. A scratch server loads no plugins, so tables in their storage engines cannot be tested`,
  );
}

/** As far as the backup's metadata name them. */
function functionsIn(metadata: ForeignMetadata): string[] {
  const named = expectedOfMariadb(metadata)?.named.get("function");
  return [...(named?.keys() ?? [])];
}

/**
 * Our own dumps set the character set and the time zone of their texts and times themselves. If one
 * does not, this shows it: another server may have other settings than the one here.
 */
const UNLIKE_OURS = ["--default-character-set=latin1", "--init-command=set session time_zone = '-11:59'"];

interface Loading {
  /** The database of a dump that makes none. */
  readonly into: string | null;
  /** The stored functions of the source. */
  readonly functions: readonly string[];
  /** Those of the backup; null of another program's. */
  readonly databases: readonly string[] | null;
  readonly admin: MariadbSession;
  readonly signal: AbortSignal;
}

async function load(
  server: ScratchServer,
  content: AsyncIterable<Buffer>,
  { into, functions, databases: ofBackup, admin, signal }: Loading,
): Promise<void> {
  const client = await server.run("mariadb", {
    // In binary mode, the client has no commands. Otherwise it could take text of a dump for one,
    // such as one that starts a shell.
    args: [
      `--user=${LOADER}`,
      "--binary-mode",
      // No statement of a dump may read files of the user who runs the client.
      "--local-infile=0",
      "--loose-sandbox",
      "--max-allowed-packet=1G",
      ...(into === null ? UNLIKE_OURS : ["--default-character-set=utf8mb4", `--database=${into}`]),
    ],
    isFed: true,
    signal,
  });
  client.stdout.resume();
  const used = new Set<string>();
  const named = into === null ? content : withoutOwnName(content, into);
  const own = withoutOwnDatabases(named, (name) => used.add(name));
  const isMysql = productOf(server.runtime.engine_version) === "MySQL";
  // Our own dumps have none.
  const mayFill = isMysql && into !== null ? withoutServerStatements(own) : own;
  const end = captureTail(isMysql ? withoutPlacesOfFiles(mayFill) : mayFill);
  // The client prints the whole statement before its error, so keep only the end.
  let errors = "";
  client.stderr.on("data", (text: string) => {
    errors = (errors + text).slice(-4096);
  });
  try {
    await feed(client.stdin, end.content);
  } catch (error) {
    await client.stop();
    throw error;
  }
  const exit = await client.exited;
  stopIfAborted(signal);
  if (exit.code !== 0) {
    const databases = await databasesOf(admin).catch(() => null);
    throw refusalOf(exit, errors, server, { functions, databases, ofBackup, used });
  }
  if (!/^-- Dump completed/m.test(end.last()))
    throw new RestoreRefused("the dump's last line is missing: it was cut short");
}

/** `into`: the database that was made for the dump. It counts if the dump filled it. */
async function restoredDatabases(session: MariadbSession, into: string | null): Promise<string[]> {
  const tables = rowsOf(
    await session.run(`select count(*) from information_schema.tables where table_schema = '${DATABASE}'`),
    "listing the tables",
  );
  return (await databasesOf(session)).filter(
    (name) => !OWN_DATABASES.includes(name) && (name !== into || tables[0]?.[0] !== "0"),
  );
}

async function databasesOf(session: MariadbSession): Promise<string[]> {
  const all = rowsOf(
    await session.run("select schema_name from information_schema.schemata order by schema_name"),
    "listing the databases",
  );
  return all.map(([name = ""]) => name);
}

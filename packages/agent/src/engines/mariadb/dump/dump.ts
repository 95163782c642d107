import { type Child, endedWith, startChild } from "../../../processes/child.ts";
import { releasing } from "../../../processes/coalesce.ts";
import { largeWrites } from "../../../processes/large-writes.ts";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import type { Dump, SourceMetadata, SourceOf } from "../../engine.ts";
import type { RunContext } from "../../../sandboxes/run-context.ts";
import { columnsNotExamined } from "../lossy-columns/columns-not-examined.ts";
import { chosenDatabases } from "../source/chosen-databases.ts";
import { type ConnectionFile, writeConnectionFile } from "../connection/connection.ts";
import { describeDump, type Look, look, tablesOf } from "./describe.ts";
import { listSource } from "../content/list-source.ts";
import { signObjects } from "../content/sign-objects.ts";
import { signRows } from "../content/sign-rows.ts";
import { DumpCounter } from "../content/dump-counter.ts";
import { refuseRounded } from "../lossy-columns/float-columns.ts";
import { refuseLossy } from "../lossy-columns/text-columns.ts";
import {
  DUMPS_HISTORY,
  findClient,
  findDumper,
  type Program,
  productOf,
  releaseOf,
  rowLayoutOf,
} from "../connection/programs.ts";
import { refuseHistoryByTransaction } from "./history-by-transaction.ts";
import { originOf } from "./origin.ts";
import { refuseRowLimit } from "./row-limit.ts";
import { settingsOf } from "../connection/server-settings.ts";
import { requireNewEnough, serverVersion } from "../connection/server-version.ts";
import type { ListedTable } from "../schema.ts";
import { type MariadbSession, SessionEnded } from "../connection/session.ts";
import { connectionFailed, rowsOf } from "../connection/session-error.ts";
import { openSession } from "../connection/source-session.ts";
import type { MariadbSettings } from "../../../config/engines/mariadb.ts";

const ARGUMENTS = [
  // Makes transactional tables consistent without locking them.
  "--single-transaction",
  "--skip-lock-tables",
  "--quick",
  "--routines",
  "--events",
  "--triggers",
  "--hex-blob",
  // Tablespaces belong to the server, and reading them needs a privilege on all of it.
  "--no-tablespaces",
  "--default-character-set=utf8mb4",
  "--max-allowed-packet=1G",
];

/**
 * Leaves out the list of transactions that the source's server executed. A server that has executed
 * some itself refuses a dump with such a list.
 */
const MYSQL_ARGUMENTS = ["--set-gtid-purged=OFF"];

/**
 * Runs `mariadb-dump --single-transaction`, or MySQL's `mysqldump`, on one or several databases,
 * with routines, triggers and events.
 */
export async function dumpMariadb(
  source: SourceOf<MariadbSettings>,
  { scratchDir, signal, contentKey }: RunContext,
): Promise<Dump> {
  const client = await findClient();
  const connection = await writeConnectionFile(source.connection, scratchDir);
  const opened: { close(): Promise<unknown> }[] = [];
  const close = async (): Promise<void> => {
    // Others may be added meanwhile. None can connect once the file is gone.
    for (let each = opened.pop(); each !== undefined; each = opened.pop()) await each.close();
    await connection.remove();
  };
  const session = (): Promise<MariadbSession> => {
    const opening = openSession(client, connection, signal);
    // At once: the dump may be closed before it is open.
    opened.push({ close: async () => (await opening.catch(() => null))?.close() });
    return opening;
  };
  try {
    const older = await session();
    const version = await serverVersion(older);
    await refuseRowLimit(older);
    const settings = await settingsOf(older);
    const dumper = await findDumper(productOf(version));
    requireNewEnough(dumper, version);
    const databases = await chosenDatabases(source, connection, older);
    const origin = await originOf(older, source.databases === null ? connection.database : null);
    const counter = new DumpCounter(rowLayoutOf(dumper), contentKey);
    const list = () => listSource(session, databases, { isWholeServer: source.databases === "all" });
    const objects = contentKey === undefined ? null : await list();
    await beginSnapshot(older);
    const tables = await tablesOf(older, databases);
    await refuseHistoryByTransaction(older, databases, tables);
    const history = historyArguments(dumper, version, tables);
    const looks = lookTwice(
      older,
      async () => {
        const newer = await session();
        await beginSnapshot(newer);
        return newer;
      },
      { databases, version },
    );
    const child = await startDumper(
      dumper,
      connection,
      [...history, "--databases", "--", ...databases],
      signal,
    );
    opened.push({ close: () => child.stop() });
    child.stdin.end();
    const metadata = async (): Promise<SourceMetadata> => {
      const [before, after] = await looks.both();
      for (const { floats, texts } of [before, after]) {
        refuseRounded(floats);
        refuseLossy(texts);
      }
      const described = describeDump({
        engine: source.engine,
        version,
        dumper: dumper.version,
        databases,
        before,
        after,
        dumped: counter,
        settings,
      });
      if (contentKey === undefined) return described;
      const again = objects === null ? null : await list();
      const notExamined = columnsNotExamined([before, after]);
      const retyped = [...before.json.changed, ...after.json.changed];
      return signRows(
        described,
        {
          dumped: counter,
          ...before,
          retyped,
          notExamined,
          objects: signObjects(objects, again, contentKey),
        },
        contentKey,
      );
    };
    return {
      origin,
      content: contentOf(child, looks.again, counter, signal),
      expectedBytes: null,
      metadata: () => orConnectionFailed(metadata(), `the connection to ${source.slug} broke`),
      close,
    };
  } catch (error) {
    await close();
    stopIfAborted(signal);
    throw error instanceof SessionEnded
      ? connectionFailed(`the source ${source.slug} cannot be reached`, error)
      : error;
  }
}

async function startDumper(
  { path, product }: Program,
  connection: ConnectionFile,
  args: readonly string[],
  signal: AbortSignal,
): Promise<Child> {
  return startChild({
    command: path,
    args: [
      `--defaults-file=${connection.path}`,
      ...ARGUMENTS,
      ...(product === "MySQL" ? MYSQL_ARGUMENTS : []),
      ...args,
    ],
    env: { ...connection.env, ...(await largeWrites()) },
    signal,
    isDump: true,
  });
}

/**
 * Looks at the source in a snapshot that is older than the dump's, and in one that is newer. The
 * first look begins at once. `again` is called when the dump program writes: it has its snapshot by
 * then.
 */
function lookTwice(
  older: MariadbSession,
  openNewer: () => Promise<MariadbSession>,
  { databases, version }: { readonly databases: readonly string[]; readonly version: string },
): { readonly again: () => void; readonly both: () => Promise<[before: Look, after: Look]> } {
  const before = look(older, databases, version);
  before.catch(() => undefined);
  let after: Promise<Look> | null = null;
  const again = (): Promise<Look> => (after ??= openNewer().then((newer) => look(newer, databases, version)));
  return {
    again: () => void again().catch(() => undefined),
    both: () => Promise.all([before, again()]),
  };
}

/** @throws RunError `tool_too_old` if the dump would lack earlier versions of rows. */
function historyArguments(dumper: Program, version: string, tables: readonly ListedTable[]): string[] {
  const versioned = tables.filter(({ isVersioned }) => isVersioned).map(({ name }) => name);
  if (versioned.length === 0) return [];
  if (Math.min(releaseOf(dumper.version), releaseOf(version)) >= DUMPS_HISTORY) return ["--dump-history"];
  throw new RunError(
    "tool_too_old",
    `${versioned.slice(0, 3).join(", ").slice(0, 200)} ${versioned.length === 1 ? "keeps" : "keep"} earlier versions of rows (SYSTEM VERSIONING), ` +
      "and only MariaDB 10.11 and newer can dump these (server and mariadb-dump): the backup would lack them. Upgrade, or back up the server's files",
  );
}

async function beginSnapshot(session: MariadbSession): Promise<void> {
  for (const sql of [
    "set session time_zone = '+00:00'",
    "set session transaction isolation level repeatable read",
    "start transaction with consistent snapshot",
  ])
    rowsOf(await session.run(sql), "beginning a transaction");
}

async function* contentOf(
  child: Child,
  onFirst: () => void,
  counter: DumpCounter,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const piece of releasing(child.stdout)) {
    onFirst();
    counter.add(piece);
    yield piece;
  }
  const exit = await child.exited;
  stopIfAborted(signal);
  if (exit.code === 0) return;
  const lines = exit.stderr.split("\n").filter((each) => !/\bWarning\b/.test(each));
  const line = lines.find((each) => each.includes("rror")) ?? lines[0] ?? "";
  const why = line === "" ? "" : `: ${line.replace(/^\S*(?:dump): /, "").slice(0, 300)}`;
  throw new RunError("dump_failed", `the dump program ended with ${endedWith(exit)}${why}`);
}

async function orConnectionFailed<Result>(result: Promise<Result>, what: string): Promise<Result> {
  try {
    return await result;
  } catch (error) {
    throw error instanceof SessionEnded ? connectionFailed(what, error) : error;
  }
}

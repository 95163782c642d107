import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { tarEnd, tarHeader, tarPadding } from "@attestore/host/tar";
import { readFilePieces } from "../../../crypto/file-pieces.ts";
import { RunError } from "../../../errors/run-error.ts";
import { makeScratchDirectory } from "../../../sandboxes/process/scratch-directory.ts";
import type { Dump, SourceMetadata, SourceOf } from "../../engine.ts";
import type { RunContext } from "../../../sandboxes/run-context.ts";
import { DatabaseDump, type DatabaseToDump } from "../dump/database-dump.ts";
import { contentKeyOf } from "../content/describe-content.ts";
import type { PsqlSession } from "../connection/psql-session.ts";
import { outputOf } from "../connection/session-error.ts";
import { CAN_BE_DUMPED } from "../source/list-databases.ts";
import { rowsOf } from "../schema.ts";
import type { PostgresqlSettings } from "../../../config/engines/postgresql.ts";
import { dumpGlobals } from "./dump-globals.ts";
import { describeSet, tablesOfEach } from "./describe-set.ts";
import { directoryName, GLOBALS, isDumpFile, MAX_DATABASES, partName } from "./names.ts";

export interface SetToDump {
  readonly source: SourceOf<PostgresqlSettings>;
  readonly database: DatabaseToDump;
  /** A session in the connection's own database. It is closed once the databases are known. */
  readonly session: PsqlSession;
  readonly version: string;
  readonly context: RunContext;
}

/**
 * The size of one part of a custom dump. A header needs the length of what follows it, so each part
 * is kept in memory until it is complete.
 */
const PART_BYTES = 8 << 20;

/**
 * Dumps several databases and the server's globals into one archive. The databases come one after
 * the other, each in a snapshot of its own. With several jobs, one database at a time is on the
 * disk, unencrypted.
 * @throws RunError
 */
export async function dumpSet(set: SetToDump): Promise<Omit<Dump, "origin">> {
  const { source, database, session, version } = set;
  const { names, own, lacksClosed } = await databasesOf(set);
  const globals = source.globals ? await dumpGlobals(database, session, version) : null;
  await session.close();
  let running: DatabaseDump | null = null;
  const described: { name: string; metadata: SourceMetadata }[] = [];
  let isWhole = false;
  return {
    content: (async function* () {
      if (globals !== null) yield* entryOf(GLOBALS, globals.sql);
      for (const [index, name] of names.entries()) {
        const what = `the database ${name} of ${source.slug}`;
        const tablesListed = tablesOfEach(names.length);
        const contentKey =
          database.contentKey === undefined ? undefined : contentKeyOf(database.contentKey, name);
        running = await DatabaseDump.open({ ...database, name, what, tablesListed, contentKey });
        const directory = directoryName(index, name);
        yield* source.jobs > 1 ? inFiles(running, directory, set) : inParts(running, directory);
        described.push({ name, metadata: await running.metadata() });
        await running.close();
      }
      yield tarEnd();
      isWhole = true;
    })(),
    expectedBytes: null,
    metadata: () =>
      isWhole
        ? Promise.resolve(
            describeSet({ version, tools: database.tools.version, own, described, globals, lacksClosed }),
          )
        : Promise.reject(new Error("the metadata of a dump that has not ended")),
    close: async () => {
      await running?.close();
    },
  };
}

async function databasesOf({
  source,
  session,
}: SetToDump): Promise<{ names: readonly string[]; own: string; lacksClosed: boolean }> {
  const list = async (sql: string): Promise<string[]> =>
    rowsOf(outputOf(await session.run(sql), "listing the databases")).map(([name = ""]) => name);
  const there = await list(
    `select json_build_array(datname) from pg_database where ${CAN_BE_DUMPED} order by datname`,
  );
  const [own = ""] = await list("select json_build_array(current_database())");
  const wanted = source.databases === "all" ? there : (source.databases ?? [own]);
  const missing = wanted.filter((name) => !there.includes(name));
  if (missing.length > 0) {
    throw new RunError(
      "source_missing",
      `the server of ${source.slug} has no database ${missing.join(", ").slice(0, 200)}, or the database accepts no connections`,
    );
  }
  if (wanted.length > MAX_DATABASES)
    throw new RunError("dump_failed", `${source.slug} names more than ${MAX_DATABASES} databases`);
  const closed = await list(
    "select json_build_array(datname) from pg_database where not datallowconn and datname not in ('template0', 'template1')",
  );
  return {
    names: wanted,
    own: wanted.includes(own) ? own : (wanted[0] ?? own),
    lacksClosed: source.databases === "all" && closed.length > 0,
  };
}

function* entryOf(name: string, content: Buffer): Generator<Buffer, void, undefined> {
  yield tarHeader(name, content.length);
  yield content;
  yield tarPadding(content.length);
}

async function* inParts(dump: DatabaseDump, directory: string): AsyncGenerator<Buffer, void, undefined> {
  const buffer = Buffer.allocUnsafeSlow(PART_BYTES);
  let [filled, part] = [0, 0];
  for await (const piece of dump.content()) {
    for (let at = 0; at < piece.length;) {
      const copied = piece.copy(buffer, filled, at);
      at += copied;
      filled += copied;
      if (filled < buffer.length) continue;
      yield* entryOf(partName(directory, part), buffer);
      part += 1;
      filled = 0;
    }
  }
  if (filled > 0) yield* entryOf(partName(directory, part), buffer.subarray(0, filled));
}

async function* inFiles(
  dump: DatabaseDump,
  directory: string,
  { source, context }: SetToDump,
): AsyncGenerator<Buffer, void, undefined> {
  const scratch = await makeScratchDirectory(context.scratchDir, null);
  try {
    const path = join(scratch.path, "dump");
    await dump.toDirectory(path, source.jobs);
    for (const file of (await readdir(path)).toSorted()) {
      if (!isDumpFile(file)) throw new RunError("dump_failed", `pg_dump wrote an unexpected file: ${file}`);
      yield* fileEntry(`${directory}/${file}`, join(path, file));
    }
  } finally {
    await scratch.remove();
  }
}

async function* fileEntry(name: string, path: string): AsyncGenerator<Buffer, void, undefined> {
  const { size } = await stat(path);
  yield tarHeader(name, size);
  let length = 0;
  for await (const piece of readFilePieces(path)) {
    length += piece.length;
    yield piece;
  }
  if (length !== size) throw new RunError("dump_failed", "a file of the dump changed while it was read");
  yield tarPadding(size);
}

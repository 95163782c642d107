import { mkdir } from "node:fs/promises";
import { type Child, endedWith } from "../../../processes/child.ts";
import { releasing } from "../../../processes/coalesce.ts";
import { largeWrites } from "../../../processes/large-writes.ts";
import { type ProgramRequest, programsIn } from "../../../processes/run-program.ts";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import type { SourceMetadata } from "../../engine.ts";
import type { Installation } from "../connection/installations.ts";
import { connectionArguments, PsqlSession, SessionEnded } from "../connection/psql-session.ts";
import { rowsOf } from "../schema.ts";
import { type ContentFacts, contentFacts, withContent } from "../content/describe-content.ts";
import { type ListedObjects, listObjects, NOTHING_LISTED, unchanged } from "../content/describe-objects.ts";
import { withDefinitions } from "../content/other-objects.ts";
import { type ArchiveContent, ArchiveReader } from "../content/read-archive.ts";
import { type Quoting, withoutNeedlessQuotes } from "./needless-quotes.ts";
import { connectionFailed, outputOf } from "../connection/session-error.ts";
import { describeSnapshot, exportSnapshot } from "./snapshot.ts";
import { majorOf } from "../connection/version.ts";

interface Described {
  readonly metadata: SourceMetadata;
  readonly facts: ContentFacts;
}

const ARGUMENTS = ["--compress=0", "--no-password", "--lock-wait-timeout=300000"];

/** One database of a server, and how to reach and dump it. */
export interface DatabaseToDump {
  readonly environment: Readonly<Record<string, string>>;
  readonly tools: Installation;
  /** The name of the database; null for the connection's own. */
  readonly name: string | null;
  /** For messages: the source, and which of its databases. */
  readonly what: string;
  /** The most tables that the metadata may name. By default as many as fit into a receipt. */
  readonly tablesListed?: number;
  /** The key under which the tables' content is signed. Without it, no content is signed. */
  readonly contentKey?: Buffer | undefined;
  /** See definitions-key.ts. */
  readonly definitionsKey?: Buffer | undefined;
  readonly signal: AbortSignal;
}

/**
 * The dump of one database, in a snapshot that our own session holds, so the counts in the metadata
 * are those of the dump.
 */
export class DatabaseDump {
  readonly #database: DatabaseToDump;
  readonly #session: PsqlSession;
  readonly #version: string;
  readonly #snapshot: string;
  readonly #quoting: Quoting;
  #pgDump: Child | null = null;
  #metadata: Promise<Described> | null = null;
  #reader: ArchiveReader | null = null;
  #content: ArchiveContent | null = null;
  /** The objects as they were before pg_dump read them. */
  #objects: ListedObjects = NOTHING_LISTED;

  private constructor(
    database: DatabaseToDump,
    session: PsqlSession,
    version: string,
    { snapshot, quoting }: { readonly snapshot: string; readonly quoting: Quoting },
  ) {
    this.#database = database;
    this.#session = session;
    this.#version = version;
    this.#snapshot = snapshot;
    this.#quoting = quoting;
  }

  /**
   * If it succeeds, it closes the session later.
   * @throws RunError, SessionEnded
   */
  static async begin(database: DatabaseToDump, session: PsqlSession, version: string): Promise<DatabaseDump> {
    const quoting = await withoutNeedlessQuotes(session, database);
    const snapshot = await exportSnapshot(session);
    return new DatabaseDump(database, session, version, { snapshot, quoting });
  }

  /** @throws RunError */
  static async open(database: DatabaseToDump): Promise<DatabaseDump> {
    const { environment, tools, name, what, signal } = database;
    const session = await PsqlSession.open(programsIn(tools.bin), environment, signal, {
      database: name,
      onlyReads: true,
    });
    try {
      await requireIn(session, database);
      return await DatabaseDump.begin(database, session, await serverVersion(session));
    } catch (error) {
      await session.close();
      stopIfAborted(signal);
      throw error instanceof SessionEnded ? connectionFailed(`${what} cannot be reached`, error) : error;
    }
  }

  /**
   * A dump in custom format, without compression because zstd follows.
   * @throws RunError
   */
  async *content(): AsyncGenerator<Buffer, void, undefined> {
    this.#objects = await this.#listObjects();
    const child = await this.#start(["--format=custom"]);
    const reader = await this.#read(null);
    for await (const piece of releasing(child.stdout)) {
      // pg_dump writes its first output after it has its locks. From then on the schema cannot
      // change while we describe it.
      void this.#describe();
      const isRead = reader?.add(piece);
      yield piece;
      await isRead;
    }
    await this.#ended(child);
    this.#content = (await reader?.end()) ?? null;
  }

  /**
   * A dump in directory format, into a directory that does not exist yet.
   * @throws RunError
   */
  async toDirectory(directory: string, jobs: number): Promise<void> {
    await mkdir(directory, { mode: 0o700 });
    this.#objects = await this.#listObjects();
    const child = await this.#start(["--format=directory", `--jobs=${jobs}`, `--file=${directory}`]);
    child.stdout.resume();
    await this.#ended(child);
    const reader = await this.#read(directory);
    this.#content = (await reader?.end()) ?? null;
  }

  /** @throws RunError */
  async metadata(): Promise<SourceMetadata> {
    const { contentKey, definitionsKey } = this.#database;
    try {
      const { metadata, facts } = await this.#describe();
      if (contentKey === undefined) return metadata;
      const objects = { before: this.#objects, after: await this.#listObjects() };
      const described = withContent(metadata, facts, objects, this.#content, contentKey);
      const listed = unchanged(objects.before.objects, objects.after.objects);
      return definitionsKey === undefined || listed === null
        ? described
        : withDefinitions(described, listed, definitionsKey);
    } catch (error) {
      throw error instanceof SessionEnded
        ? connectionFailed(`the connection to ${this.#database.what} broke`, error)
        : error;
    }
  }

  async close(): Promise<void> {
    await this.#pgDump?.stop();
    await this.#reader?.close();
    await this.#session.close();
  }

  #describe(): Promise<Described> {
    const session = this.#session;
    const describe = async (): Promise<Described> => ({
      facts: await contentFacts(session, this.#quoting.quotesAll),
      metadata: await describeSnapshot(
        session,
        this.#version,
        this.#database.tools.version,
        this.#database.tablesListed,
      ),
    });
    this.#metadata ??= describe();
    this.#metadata.catch(() => undefined);
    return this.#metadata;
  }

  /** Nothing if the connection broke, because a complete dump must not fail for that. */
  async #listObjects(): Promise<ListedObjects> {
    if (this.#database.contentKey === undefined) return NOTHING_LISTED;
    const dump = { major: majorOf(this.#database.tools.version), quotesAll: this.#quoting.quotesAll };
    return listObjects(this.#session, this.#version, dump).catch(() => NOTHING_LISTED);
  }

  /** Reads the archive only, and asks the source nothing. */
  async #read(directory: string | null): Promise<ArchiveReader | null> {
    const { tools, signal, contentKey } = this.#database;
    if (contentKey === undefined) return null;
    this.#reader = await ArchiveReader.start(programsIn(tools.bin), signal, directory);
    return this.#reader;
  }

  async #start(args: readonly string[]): Promise<Child> {
    const { tools, name, signal } = this.#database;
    const { environment } = this.#quoting;
    const request: ProgramRequest = {
      args: [
        ...args,
        ...ARGUMENTS,
        `--snapshot=${this.#snapshot}`,
        ...connectionArguments(environment, name),
      ],
      // Times with a zone are printed in the session's time zone, and the restored copy must print
      // them in the same one.
      env: { ...environment, PGTZ: "UTC", ...(await largeWrites()) },
      signal,
      isDump: true,
    };
    const child = await programsIn(tools.bin)("pg_dump", request);
    child.stdin.end();
    this.#pgDump = child;
    return child;
  }

  async #ended(child: Child): Promise<void> {
    const exit = await child.exited;
    stopIfAborted(this.#database.signal);
    if (exit.code !== 0 || exit.stderr.includes("error:"))
      throw new RunError("dump_failed", `pg_dump ended with ${endedWith(exit)}${firstError(exit.stderr)}`);
  }
}

/**
 * Something in between, such as a pooler, may connect us to another database under the same name.
 */
async function requireIn(session: PsqlSession, { name, what }: DatabaseToDump): Promise<void> {
  if (name === null) return;
  const asked = await session.run("select json_build_array(current_database())");
  const [[is = ""] = []] = rowsOf(outputOf(asked, "asking for the database"));
  if (is === name) return;
  throw new RunError(
    "connection_failed",
    `the connection to ${what} leads to the database ${is.slice(0, 63)}: check the connection`,
  );
}

/**
 * The server's version, such as 15.20.
 * @throws RunError, SessionEnded
 */
export async function serverVersion(session: PsqlSession): Promise<string> {
  const answer = outputOf(await session.run("show server_version"), "asking for the version");
  const version = /^[0-9]+(?:\.[0-9]+)?/.exec(answer.trim())?.[0];
  if (version !== undefined) return version;
  throw new RunError("connection_failed", "the source reports no known version");
}

export function firstError(stderr: string): string {
  const line = stderr.split("\n").find((each) => each.includes("error:"));
  return line === undefined ? "" : `: ${line.replace(/^pg_\w+: error: /, "").slice(0, 300)}`;
}

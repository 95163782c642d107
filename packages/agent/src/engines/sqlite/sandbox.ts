import { createHmac } from "node:crypto";
import { join } from "node:path";
import type { CheckOutcome } from "@attestore/proof";
import type { QueryOutcome } from "../../checks/index.ts";
import { RunError, stopIfAborted } from "../../errors/run-error.ts";
import { openIsolatedPlace } from "../../sandboxes/isolation/open-isolated-place.ts";
import { writeInPlace } from "../../sandboxes/isolation/write-in-place.ts";
import type { Place } from "../../sandboxes/place.ts";
import type { Child } from "../../processes/child.ts";
import { checkTables } from "../check-tables.ts";
import {
  type ContentComparison,
  type FoundProfile,
  type InferredContext,
  type Profiling,
  type QueryLimits,
  type Restored,
  RestoreRefused,
  type Ruined,
  type RuinLimits,
  type Sandbox,
} from "../engine.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import { runCheckProgram } from "../run-check-program.ts";
import { kindsOf, schemaHash } from "../schema.ts";
import { compareFile, writeAndReadBack, type WrittenFile } from "./content/compare-file.ts";
import { compareRows, expectedOfSqlite } from "./content/compare-rows.ts";
import { OBJECTS_VERSION } from "./content/objects.ts";
import { counting, countQuery, schemaOf, tablesOf, versionOf } from "./describe.ts";
import { checkForeignKeys, FOREIGN_KEYS_S } from "./foreign-keys.ts";
import { checkIntegrity } from "./integrity.ts";
import { isFull, isOfThePlace, type Response, type RuinedCopy } from "./protocol.ts";
import { SqliteProcess } from "./sqlite-process.ts";
import { quotedName } from "../quoted-name.ts";

export async function findSqliteSandbox(): Promise<Sandbox> {
  const sqlite = new SqliteProcess(AbortSignal.timeout(60_000));
  try {
    const engine_version = await versionOf(sqlite);
    return { runtime: { kind: "process", engine: "sqlite", engine_version }, restore };
  } finally {
    await sqlite.close();
  }
}

async function restore(content: AsyncIterable<Buffer>, context: RunContext): Promise<Restored> {
  const { signal } = context;
  const place = await openIsolatedPlace(context);
  const restored = new RestoredSqlite(place, new SqliteProcess(signal, place));
  const header = new FileHeader();
  try {
    const dump = header.of(content);
    if (context.readsDump === true)
      restored.file = await writeAndReadBack(place, restored.path, dump, signal);
    else await writeInPlace(place, restored.path, dump, signal);
    if (header.isReadOnly)
      throw new RestoreRefused(
        "the file's header says that SQLite may only read it (its write version is above 2)",
      );
    await restored.open();
    return restored;
  } catch (error) {
    await restored.close();
    stopIfAborted(signal);
    throw error;
  }
}

/** Where the version of the format for writers is, and the highest that there is. */
const [WRITE_VERSION_AT, WRITE_VERSION] = [18, 2];

/** Sees what SQLite says nothing of to those who only read. */
class FileHeader {
  isReadOnly = false;

  async *of(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
    let at = 0;
    for await (const piece of content) {
      const version = piece[WRITE_VERSION_AT - at];
      if (version !== undefined && at <= WRITE_VERSION_AT) this.isReadOnly = version > WRITE_VERSION;
      at += piece.length;
      yield piece;
    }
  }
}

const LATE_MS = 5_000;

class RestoredSqlite implements Restored {
  /** The path in the place. */
  readonly path: string;
  /** Of a dump that another program made. */
  file: WrittenFile | null = null;
  readonly #place: Place;
  readonly #sqlite: SqliteProcess;

  constructor(place: Place, sqlite: SqliteProcess) {
    this.#place = place;
    this.path = join(place.home, "restored.sqlite");
    this.#sqlite = sqlite;
  }

  /**
   * Reads the header and the schema.
   * @throws RestoreRefused if it is not a database.
   */
  async open(): Promise<void> {
    const response = await this.#sqlite.request({
      op: "list",
      path: this.path,
      sql: "select count(*) from sqlite_schema",
    });
    if (response?.ok !== false) return;
    if (isOfThePlace(response.code)) throw ofThePlace(response);
    throw new RestoreRefused(`SQLite cannot open the restored file: ${response.message.slice(0, 200)}`);
  }

  async fingerprint(): Promise<string> {
    return schemaHash(await ofRestored(schemaOf(this.#sqlite, this.path)));
  }

  async query(sql: string, { timeout_s }: QueryLimits): Promise<QueryOutcome> {
    return outcomeOf(await this.#sqlite.request({ op: "query", path: this.path, sql }, timeout_s), timeout_s);
  }

  async ruin(sql: string, { budget_ms }: RuinLimits): Promise<readonly Ruined[]> {
    const response = await this.#sqlite.request({ op: "ruin", path: this.path, sql }, budget_ms / 1000);
    if (response === null) {
      await this.#rollBack();
      return [{ how: "ruined data", outcome: { kind: "not_tried", reason: "no time was left" } }];
    }
    if (!response.ok) throw ofThePlace(response);
    return (response.ruined ?? []).map((each) => ({ how: each.how, outcome: ruinedOutcome(each) }));
  }

  /** For a process that was killed during a change: its journal is next to the copy. */
  async #rollBack(): Promise<void> {
    const response = await this.#sqlite.request({ op: "recover", path: this.path });
    if (response?.ok === false) throw ofThePlace(response);
  }

  /** If the program changes the file, it only changes what is thrown away. */
  startCommand(command: readonly string[], signal: AbortSignal): Promise<Child> {
    return runCheckProgram(this.#place, this.path, command, signal);
  }

  tables(): Promise<readonly string[]> {
    return ofRestored(tablesOf(this.#sqlite, this.path));
  }

  async objectKinds(): Promise<ReadonlyMap<string, number>> {
    return kindsOf(await ofRestored(schemaOf(this.#sqlite, this.path)));
  }

  async inferredChecks(context: InferredContext): Promise<readonly CheckOutcome[]> {
    const path = this.path;
    const ask = async (sql: string): Promise<Response | null> => {
      const response = await this.#sqlite.request({ op: "list", path, sql });
      if (response?.ok === false && isOfThePlace(response.code)) throw ofThePlace(response);
      return response;
    };
    const present = await this.tables();
    const { check: checked, unreadable } = await checkIntegrity(ask, present).catch(
      async (error: unknown) => {
        // A damaged schema may need things that never existed.
        const signed = context.metadata["schema_hash"];
        const isOther = typeof signed === "string" && (await this.fingerprint()) !== signed;
        throw isOther && error instanceof RunError && error.code === "sandbox_lacks"
          ? new RestoreRefused("the schema is not the backup's: SQLite can read no table")
          : error;
      },
    );
    // The tables of a damaged database may return anything.
    if (checked.result === "failed") return [checked];
    const readOne = async (table: string): Promise<boolean> => {
      const sql = `select 1 from ${quotedName(table)} limit 1`;
      return (await this.#sqlite.request({ op: "list", path, sql }))?.ok === true;
    };
    const tables = await checkTables({
      ...context,
      tables: present,
      unreadable: new Set([...unreadable, ...(await withoutText(present, readOne))]),
      readOne,
      count: async (table, seconds) => {
        const counted = await counting(table, (sql) =>
          this.#sqlite.request({ op: "query", path, sql }, seconds),
        );
        return outcomeOf(counted, seconds ?? 0);
      },
      countQuery,
    });
    // An empty file passes the integrity check too, but that alone has read no data.
    if (tables.length === 0) return [];
    const foreignKeys = await checkForeignKeys(
      (sql) => this.#sqlite.request({ op: "list", path, sql }, FOREIGN_KEYS_S),
      context.metadata,
    );
    return [checked, ...(foreignKeys === null ? [] : [foreignKeys]), ...tables];
  }

  async compareContent({ metadata, key, budget_ms }: ContentComparison): Promise<readonly CheckOutcome[]> {
    const started = performance.now();
    if (this.file !== null) {
      const tables = (await this.tables()).length;
      const compared = compareFile(this.file, { tables, key, duration_ms: performance.now() - started });
      return compared === null ? [] : [compared];
    }
    const objectsVersion = expectedOfSqlite(metadata)?.version === 1 ? 1 : OBJECTS_VERSION;
    const request = { op: "content", path: this.path, budget_ms, objectsVersion } as const;
    // A single row may take longer than the time that is left.
    const response = await this.#sqlite.request(request, (budget_ms + LATE_MS) / 1000);
    if (response === null) return [];
    if (!response.ok) {
      if (isOfThePlace(response.code)) throw ofThePlace(response);
      return [];
    }
    const { content } = response;
    if (content === undefined) throw new Error("an incomplete answer");
    const broken = content.notRead.find(({ code }) => code !== undefined && isOfThePlace(code));
    if (broken?.code !== undefined) throw ofThePlace({ code: broken.code, message: "a table was not read" });
    return compareRows(metadata, content, { key, duration_ms: performance.now() - started });
  }

  async profile({ key, budget_ms }: Profiling): Promise<FoundProfile> {
    const seed = createHmac("sha256", key).update("profile").digest().readUInt32BE() >>> 1;
    const request = { op: "profile", path: this.path, seed, budget_ms } as const;
    // A single statement may take longer.
    const response = await this.#sqlite.request(request, (budget_ms + LATE_MS) / 1000);
    if (response === null) return { tables: [], left_out: 0 };
    if (!response.ok) {
      if (isOfThePlace(response.code)) throw ofThePlace(response);
      return { tables: [], left_out: 0 };
    }
    const { tables, left_out } = response.profile ?? { tables: [], left_out: 0 };
    return { tables: [...tables], left_out };
  }

  async close(): Promise<void> {
    await this.#sqlite.close();
    await this.#place.close();
  }
}

/**
 * Tables whose names are not UTF-8: nobody can ask for them in SQL, and the integrity check alone
 * reads them.
 */
async function withoutText(
  tables: readonly string[],
  readOne: (table: string) => Promise<boolean>,
): Promise<string[]> {
  const found: string[] = [];
  for (const table of tables) if (table.includes("\uFFFD") && !(await readOne(table))) found.push(table);
  if (found.length > 0 && found.length === tables.length)
    throw new RunError(
      "sandbox_lacks",
      "the names of all tables are not UTF-8, so no query can ask for them",
    );
  return found;
}

function ruinedOutcome(copy: RuinedCopy): Ruined["outcome"] {
  if ("reason" in copy) return { kind: "not_tried", reason: copy.reason };
  return "rows" in copy ? { kind: "rows", rows: copy.rows } : { kind: "error", message: copy.error };
}

function outcomeOf(response: Response | null, timeout_s: number): QueryOutcome {
  if (response === null) return { kind: "timeout", after_s: timeout_s };
  if (response.ok) {
    const rows = response.rows ?? [];
    return response.readsData === false ? { kind: "rows", rows, readsNoData: true } : { kind: "rows", rows };
  }
  if (isOfThePlace(response.code)) throw ofThePlace(response);
  return { kind: "error", message: response.message };
}

/**
 * If a restored database cannot be listed, the data are to blame, unless the place failed.
 * @throws RestoreRefused, RunError
 */
async function ofRestored<Result>(listed: Promise<Result>): Promise<Result> {
  try {
    return await listed;
  } catch (error) {
    const response = error instanceof RunError ? (error.cause as Response | null | undefined) : null;
    if (response?.ok !== false) throw error;
    if (isOfThePlace(response.code)) throw ofThePlace(response);
    throw new RestoreRefused(`SQLite cannot read the restored file: ${response.message.slice(0, 200)}`);
  }
}

function ofThePlace({ code, message }: { code: number; message: string }): RunError {
  return isFull(code)
    ? full()
    : new RunError("sandbox_failed", `SQLite failed on the restored copy: ${message.slice(0, 200)}`);
}

function full(): RunError {
  return new RunError(
    "disk_full",
    "the scratch directory's file system filled up during the restore: give it more space",
  );
}

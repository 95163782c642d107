import type { CheckOutcome, Profile } from "@attestore/proof";
import { constraintsCheck, type QueryOutcome } from "../../checks/index.ts";
import { RunError, stopIfAborted } from "../../errors/run-error.ts";
import {
  type ConstraintLimits,
  type ContentComparison,
  type ForeignMetadata,
  type InferredContext,
  type Profiling,
  type QueryLimits,
  type Restored,
  type Ruined,
  type RuinLimits,
  RestoreRefused,
  type StartCommand,
} from "../engine.ts";
import { checkTables } from "../check-tables.ts";
import { compareObjects, expectedObjects } from "../content/compare-objects.ts";
import { schemaHash } from "../schema.ts";
import type { ScratchServer } from "../scratch-server.ts";
import { checkConstraints } from "./constraints.ts";
import { recordOf } from "../content/expected-content.ts";
import { compareContent } from "./content/compare-content.ts";
import { compareDump, UNCERTAIN_TABLES } from "./content/compare-dump.ts";
import { expectedRows } from "./content/expected-content.ts";
import { EARLIER_OBJECTS, earlierObjects, listedThen } from "./content/earlier-objects.ts";
import { databaseObjects, OBJECT_KINDS, OBJECTS_WORDS, RESTORED_OBJECTS } from "./content/objects.ts";
import { catalogueTables, RESTORED_CONTENT_TABLES } from "./content/tables.ts";
import type { ArchiveContent } from "./content/read-archive.ts";
import { PRIVILEGES_WORDS } from "./privileges/list-privileges.ts";
import { profileTables } from "./profile/profile-tables.ts";
import { PROFILED_TABLES, profiledTables } from "./profile/profiled-tables.ts";
import type { Loaded } from "./run-pg-restore.ts";
import { majorOf } from "./version.ts";
import { PsqlSession, SessionEnded, type Statement } from "./psql-session.ts";
import { exactSchemaHash, PRINTING, rowsOf, SCHEMA_LISTING, schemaLines, TABLES_BY_SIZE } from "./schema.ts";
import { isOwnError } from "./own-error.ts";
import { connectionFailed, isOfThePlace } from "./session-error.ts";
import { ruinInTurn } from "./ruin.ts";
import { nameInSet } from "./name-in-set.ts";

/** More than the evaluator accepts, so that the evaluator says what is wrong. */
const MAX_ROW = 300_000;
const TIMED_OUT = "57014";
const ENDED_BY_ITSELF = "57P01";

export class RestoredPostgresql implements Restored {
  readonly #server: ScratchServer;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #ownName: string | null;
  readonly #loaded: Loaded;
  readonly #dump: ArchiveContent | null;

  /**
   * `ownName` is the source's name of the database if there are several. The names of its tables
   * then begin with it. `role` runs the queries, if it is not the server's own. `dump` is what
   * another program's dump holds, if it was read.
   */
  constructor(
    server: ScratchServer,
    database: string,
    ownName: string | null = null,
    role: string | null = null,
    loaded: Loaded = { keepsOrder: false, privileges: null },
    dump: ArchiveContent | null = null,
  ) {
    this.#server = server;
    this.#dump = dump;
    this.#ownName = ownName;
    this.#loaded = loaded;
    // No query may change what was restored.
    this.#environment = {
      PGDATABASE: database,
      PGOPTIONS: "-c default_transaction_read_only=on",
      ...(role === null ? {} : { PGUSER: role }),
    };
  }

  async fingerprint(metadata: ForeignMetadata, signal: AbortSignal): Promise<string | null> {
    const listing = await this.#listSchema(metadata, signal);
    return listing === null ? null : schemaHash(schemaLines(listing));
  }

  async exactFingerprint(metadata: ForeignMetadata, signal: AbortSignal): Promise<string | null> {
    const listing = await this.#listSchema(metadata, signal);
    return listing === null ? null : exactSchemaHash(listing);
  }

  query(text: string, { timeout_s, signal }: QueryLimits): Promise<QueryOutcome> {
    return this.#inSession(signal, (session) => runQuery(this.#server, session, text, timeout_s));
  }

  ruin(query: string, { timeout_s, budget_ms, signal }: RuinLimits): Promise<readonly Ruined[]> {
    return this.#inSession(signal, (session) =>
      ruinInTurn(session, {
        query,
        ask: async () => (await askInTransaction(this.#server, session, query, timeout_s)).outcome,
        budget_ms,
        timeout_s,
      }),
    );
  }

  get startCommand(): StartCommand | undefined {
    const { command: start } = this.#server;
    if (start === undefined) return undefined;
    return ([command = "", ...args], signal) => start(command, { args, env: this.#environment, signal });
  }

  inferredChecks(context: InferredContext): Promise<readonly CheckOutcome[]> {
    const { signal } = context;
    return this.#inSession(signal, async (session) => {
      const rows = rowsOf(ownOutput(await session.run(TABLES_BY_SIZE)));
      const of = this.#ownName;
      const tables = new Map(
        rows.map(([table = ""]) => [of === null ? table : nameInSet(of, table), table] as const),
      );
      const tableOf = (name: string): string => tables.get(name) ?? name;
      return checkTables({
        ...context,
        ...(of === null ? {} : { of }),
        plainName: tableOf,
        tables: [...tables.keys()],
        readOne: async (name) =>
          (await outcomeOf(this.#server, await session.runForeign(`select from ${tableOf(name)} limit 1`), 0))
            .kind === "rows",
        count: (name, seconds = 0) => runQuery(this.#server, session, countQuery(tableOf(name)), seconds),
        countQuery: (name) => countQuery(tableOf(name)),
      });
    });
  }

  async checkConstraints({ budget_ms, signal }: ConstraintLimits): Promise<readonly CheckOutcome[]> {
    const started = performance.now();
    const checked = await this.#inSession(signal, (session) => checkConstraints(session, budget_ms));
    if (checked === null) return [];
    const of = this.#ownName === null ? {} : { of: this.#ownName };
    return [constraintsCheck(checked, { ...of, duration_ms: performance.now() - started })];
  }

  /** Another major version may print the same value in another way. */
  async compareContent(comparison: ContentComparison): Promise<readonly CheckOutcome[]> {
    if (this.#dump !== null) return this.#compareDump(this.#dump, comparison);
    const { engine_version } = comparison.metadata;
    if (majorOf(engine_version) !== majorOf(this.#server.runtime.engine_version)) return [];
    const started = performance.now();
    const objects = await this.#compareObjects(comparison);
    const budget_ms = comparison.budget_ms - (performance.now() - started);
    return [
      ...(await this.#compareTables({ ...comparison, budget_ms })),
      ...objects,
      ...this.#comparePrivileges(comparison),
    ];
  }

  #comparePrivileges({ metadata, key }: ContentComparison): readonly CheckOutcome[] {
    const expected = expectedObjects(metadata, "privileges");
    const { privileges } = this.#loaded;
    if (expected === null || privileges === null) return [];
    const started = performance.now();
    const lacksPublic = metadata["lacks_public"] === true;
    const found = privileges.filter(({ name }) => !lacksPublic || name !== "schema public");
    const context = { of: this.#ownName, words: PRIVILEGES_WORDS, what: "privileges" as const };
    return [compareObjects(found, expected, key, { ...context, duration_ms: performance.now() - started })];
  }

  /** Null if the major version is another: it may print the same schema in another way. */
  #listSchema({ engine_version }: ForeignMetadata, signal: AbortSignal): Promise<string | null> {
    if (majorOf(engine_version) !== majorOf(this.#server.runtime.engine_version))
      return Promise.resolve(null);
    return this.#inSession(signal, async (session) => {
      for (const setting of PRINTING) ownOutput(await session.run(`set ${setting}`));
      return ownOutput(await session.run(SCHEMA_LISTING));
    });
  }

  async #compareObjects({
    metadata,
    key,
    budget_ms,
    signal,
  }: ContentComparison): Promise<readonly CheckOutcome[]> {
    const expected = expectedObjects(metadata);
    if (expected === null) return [];
    const started = performance.now();
    const listed = await this.#inSession(signal, async (session) => {
      for (const setting of PRINTING) ownOutput(await session.run(`set ${setting}`));
      ownOutput(await session.run(`set statement_timeout = ${Math.max(1, Math.ceil(budget_ms))}`));
      return session.run(expected.version === 1 ? EARLIER_OBJECTS : RESTORED_OBJECTS);
    });
    // Without an answer in time nothing is known about the objects. The receipt shows this by
    // having no such check.
    if (!listed.ok && listed.sqlstate === TIMED_OUT) return [];
    const output = ownOutput(listed);
    const restored =
      expected.version === 1 ? listedThen(earlierObjects(output), expected, key) : databaseObjects(output);
    return [
      compareObjects(restored, expected, key, {
        of: this.#ownName,
        duration_ms: performance.now() - started,
        words: OBJECTS_WORDS,
        isExact: expected.version !== 1,
      }),
    ];
  }

  async #compareTables({
    metadata,
    key,
    budget_ms,
    signal,
  }: ContentComparison): Promise<readonly CheckOutcome[]> {
    const expected = expectedRows(metadata);
    if (expected === null) return [];
    const tables = await this.#inSession(signal, async (session) =>
      catalogueTables(ownOutput(await session.run(RESTORED_CONTENT_TABLES))),
    );
    const restored = {
      server: this.#server,
      environment: this.#environment,
      of: this.#ownName,
      tables,
      keepsOrder: this.#loaded.keepsOrder,
    };
    const outcome = await compareContent(restored, expected, { key, budget_ms, signal });
    return outcome === null ? [] : [outcome];
  }

  async #compareDump(
    dump: ArchiveContent,
    { metadata, key, budget_ms, signal }: ContentComparison,
  ): Promise<readonly CheckOutcome[]> {
    const [tables, uncertain] = await this.#inSession(signal, async (session) => [
      catalogueTables(ownOutput(await session.run(RESTORED_CONTENT_TABLES))),
      new Map(
        rowsOf(ownOutput(await session.run(UNCERTAIN_TABLES))).map(([table = "", why = ""]) => [table, why]),
      ),
    ]);
    const version = recordOf(metadata["original"])["server_version"];
    const isLike = majorOf(version) === majorOf(this.#server.runtime.engine_version);
    const restored = {
      server: this.#server,
      environment: this.#environment,
      of: null,
      tables,
      keepsOrder: this.#loaded.keepsOrder,
    };
    const outcome = await compareDump(restored, dump, {
      whyUncertain: (table) => (isLike ? (uncertain.get(table) ?? null) : "other_release"),
      key,
      budget_ms,
      signal,
    });
    return outcome === null ? [] : [outcome];
  }

  async profile({ key, budget_ms, signal }: Profiling): Promise<Pick<Profile, "tables" | "left_out">> {
    const started = performance.now();
    const tables = await this.#inSession(signal, async (session) =>
      profiledTables(ownOutput(await session.run(PROFILED_TABLES))),
    );
    const profiles = await profileTables({
      server: this.#server,
      environment: this.#environment,
      tables,
      key,
      budget_ms: budget_ms - (performance.now() - started),
      signal,
    });
    return { tables: profiles, left_out: tables.length - profiles.length };
  }

  tables(signal: AbortSignal): Promise<readonly string[]> {
    return this.#inSession(signal, async (session) =>
      rowsOf(ownOutput(await session.run(TABLES_BY_SIZE))).map(([name = ""]) => name),
    );
  }

  objectKinds(signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    return this.#inSession(signal, async (session) => {
      for (const setting of PRINTING) ownOutput(await session.run(`set ${setting}`));
      const kinds = rowsOf(ownOutput(await session.run(OBJECT_KINDS)));
      return new Map(kinds.map(([kind = "", count = "0"]) => [kind, Number(count)]));
    });
  }

  /** The names of the scratch server's roles. */
  roles(signal: AbortSignal): Promise<string[]> {
    return this.#inSession(signal, async (session) =>
      rowsOf(ownOutput(await session.run("select json_build_array(rolname) from pg_roles"))).map(
        ([name = ""]) => name,
      ),
    );
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  async #inSession<Result>(
    signal: AbortSignal,
    use: (session: PsqlSession) => Promise<Result>,
  ): Promise<Result> {
    const session = await PsqlSession.open(this.#server.run, this.#environment, signal);
    try {
      return await use(session);
    } catch (error) {
      stopIfAborted(signal);
      if (!(error instanceof SessionEnded)) throw error;
      // Any role may end its own connection. If this were an error, a view could choose that there
      // is no result.
      if (!this.#server.hasDied() && this.#server.errors.includes(ENDED_BY_ITSELF))
        throw new RestoreRefused("a check's query ran code that closed the connection");
      throw connectionFailed("the scratch PostgreSQL broke during the checks", error);
    } finally {
      await session.close();
    }
  }
}

function countQuery(table: string): string {
  return `select count(*) as rows from ${table}`;
}

/** How many scans of tables that are not the server's own began in the open transaction. */
const TABLES_READ =
  "select coalesce(pg_catalog.sum(coalesce(seq_scan, 0) operator(pg_catalog.+) coalesce(idx_scan, 0)), 0) from pg_catalog.pg_stat_xact_user_tables";

/** Computes at most two rows, and returns at most one. */
async function runQuery(
  server: ScratchServer,
  session: PsqlSession,
  text: string,
  timeout_s: number,
): Promise<QueryOutcome> {
  ownOutput(await session.run(`set statement_timeout = ${Math.ceil(timeout_s * 1000)}`));
  ownOutput(await session.run("begin"));
  const { outcome, read } = await askInTransaction(server, session, text, timeout_s);
  ownOutput(await session.run("rollback"));
  return outcome.kind === "rows" && read === "0" ? { ...outcome, readsNoData: true } : outcome;
}

async function askInTransaction(
  server: ScratchServer,
  session: PsqlSession,
  text: string,
  timeout_s: number,
): Promise<{ readonly outcome: QueryOutcome; readonly read: string }> {
  // Names in the query are looked up as the restored database is set up to.
  ownOutput(await session.run("reset search_path"));
  const inner = text.replace(/[;\s]+$/, "");
  // The line break ends a comment at the end of the query.
  const statement = await session.runForeign(
    `with q as materialized (select * from (${inner}\n) q limit 2)
     select (select count(*) from q) || ' ' || coalesce((select left(row_to_json(q)::text, ${MAX_ROW}) from q limit 1), '')`,
  );
  const read = statement.ok ? ownOutput(await session.run(TABLES_READ)).trim() : "";
  return { outcome: await outcomeOf(server, statement, timeout_s), read };
}

async function outcomeOf(
  server: ScratchServer,
  statement: Statement,
  timeout_s: number,
): Promise<QueryOutcome> {
  if (statement.ok) {
    const [, count = "0", row = ""] = /^([012]) ([^]*)\n$/.exec(statement.output) ?? [];
    return { kind: "rows", rows: count === "0" ? [] : count === "1" ? [row] : [row, row] };
  }
  const { sqlstate, message } = statement;
  if (sqlstate === TIMED_OUT) return { kind: "timeout", after_s: timeout_s };
  if (isOfThePlace(sqlstate) && (await isOwnError(server, sqlstate))) throw notOfTheQuery(sqlstate);
  return { kind: "error", message, sqlstate };
}

function ownOutput(statement: Statement): string {
  if (statement.ok) return statement.output;
  throw notOfTheQuery(statement.sqlstate);
}

function notOfTheQuery(sqlstate: string): RunError {
  const full = sqlstate === "53100";
  return new RunError(
    full ? "disk_full" : "sandbox_failed",
    full
      ? "the scratch directory's file system filled up during the checks: give it more space"
      : `the scratch PostgreSQL failed during the checks (SQLSTATE ${sqlstate})`,
  );
}

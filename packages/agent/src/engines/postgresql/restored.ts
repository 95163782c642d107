import type { CheckOutcome, Profile } from "@attestore/proof";
import { constraintsCheck, GRANT_KIND, indexesCheck, type QueryOutcome } from "../../checks/index.ts";
import { stopIfAborted } from "../../errors/run-error.ts";
import {
  type ContentComparison,
  type FinishAlone,
  type ForeignMetadata,
  type InferredContext,
  type IntegrityLimits,
  type Profiling,
  type QueryLimits,
  type Restored,
  type Ruined,
  type RuinLimits,
  RestoreRefused,
  type StartCommand,
} from "../engine.ts";
import { checkTables } from "../check-tables.ts";
import { schemaHash } from "../schema.ts";
import type { ScratchServer } from "../scratch-server.ts";
import { Stopwatch } from "../stopwatch.ts";
import { checkConstraints } from "./copy/constraints.ts";
import { checkIndexes } from "./copy/copy-indexes.ts";
import { compareCopy } from "./content/compare-copy.ts";
import { OBJECT_KINDS } from "./content/objects.ts";
import { compareForeign, type ForeignDump } from "./declared/compare-foreign.ts";
import { profileTables } from "./profile/profile-tables.ts";
import { PROFILED_TABLES, profiledTables } from "./profile/profiled-tables.ts";
import { type Loaded, NOTHING_KNOWN } from "./restore/run-pg-restore.ts";
import { askInTransaction, outcomeOf, ownOutput, runQuery } from "./copy/query-copy.ts";
import { majorOf } from "./connection/version.ts";
import { PsqlSession, SessionEnded } from "./connection/psql-session.ts";
import { exactSchemaHash, PRINTING, rowsOf, SCHEMA_LISTING, schemaLines, TABLES_BY_SIZE } from "./schema.ts";
import { connectionFailed } from "./connection/session-error.ts";
import { ruinInTurn } from "./copy/ruin.ts";
import { nameInSet } from "./name-in-set.ts";

const ENDED_BY_ITSELF = "57P01";

export class RestoredPostgresql implements Restored {
  readonly #server: ScratchServer;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #ownName: string | null;
  readonly #loaded: Loaded;
  readonly #dump: ForeignDump | null;
  /** Resolves when a comparison that began has listed the copy's objects. */
  #objectsListed: Promise<void> = Promise.resolve();

  /**
   * `ownName` is the source's name of the database if there are several. The names of its tables
   * then begin with it. `role` runs the queries, if it is not the server's own. `dump` is what
   * another program's dump holds and declares; null if it is our own.
   */
  constructor(
    server: ScratchServer,
    database: string,
    ownName: string | null = null,
    role: string | null = null,
    loaded: Loaded = NOTHING_KNOWN,
    dump: ForeignDump | null = null,
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

  async checkConstraints(limits: IntegrityLimits): Promise<FinishAlone> {
    const looking = new Stopwatch();
    const finish = await looking.during(
      checkConstraints((signal, use) => this.#inSession(signal, use), limits),
    );
    return async (signal) => {
      const checked = await looking.during(finish(signal));
      if (checked === null) return [];
      const of = this.#ownName === null ? {} : { of: this.#ownName };
      return [constraintsCheck(checked, { ...of, duration_ms: looking.elapsed_ms })];
    };
  }

  async checkIndexes(limits: IntegrityLimits): Promise<FinishAlone> {
    // Otherwise the extension that this adds would be one object too many.
    await this.#objectsListed;
    const looking = new Stopwatch();
    const copy = {
      server: this.#server,
      database: this.#environment["PGDATABASE"] ?? "",
      inSession: <Result>(within: AbortSignal, use: (session: PsqlSession) => Promise<Result>) =>
        this.#inSession(within, use),
    };
    const finish = await looking.during(checkIndexes(copy, limits));
    return async (signal) => {
      const checked = await looking.during(finish(signal));
      if (checked === null) return [];
      const of = this.#ownName === null ? {} : { of: this.#ownName };
      return [indexesCheck(checked, { ...of, duration_ms: looking.elapsed_ms })];
    };
  }

  async compareContent(comparison: ContentComparison): Promise<readonly CheckOutcome[]> {
    const listed = Promise.withResolvers<void>();
    this.#objectsListed = listed.promise;
    const copy = {
      server: this.#server,
      environment: this.#environment,
      of: this.#ownName,
      loaded: this.#loaded,
      inSession: <Result>(signal: AbortSignal, use: (session: PsqlSession) => Promise<Result>) =>
        this.#inSession(signal, use),
      onListed: listed.resolve,
    };
    try {
      return await (this.#dump === null
        ? compareCopy(copy, comparison)
        : compareForeign(copy, this.#dump, comparison));
    } finally {
      listed.resolve();
    }
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
      const { grants } = this.#loaded;
      return new Map([
        ...kinds.map(([kind = "", count = "0"]) => [kind, Number(count)] as const),
        ...(grants === null ? [] : [[GRANT_KIND, grants] as const]),
      ]);
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
  return `select pg_catalog.count(*) as rows from ${table}`;
}

import type { CheckOutcome } from "@attestore/proof";
import { constraintsCheck, type QueryOutcome } from "../../../checks/index.ts";
import { stopIfAborted } from "../../../errors/run-error.ts";
import { checkTables } from "../../check-tables.ts";
import type {
  ContentComparison,
  FinishAlone,
  ForeignMetadata,
  FoundProfile,
  InferredContext,
  IntegrityLimits,
  Profiling,
  QueryLimits,
  Restored,
  Ruined,
  RuinLimits,
} from "../../engine.ts";
import { schemaHash } from "../../schema.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { openSession, READER } from "../copy/accounts.ts";
import { compareListed } from "../content/compare-objects.ts";
import type { DatabaseObject } from "../../content/tagged-objects.ts";
import { compareDeclaredObjects } from "../declared/compare-declared.ts";
import type { DumpedTable } from "../content/dump-counter.ts";
import { compareDump, compareRows } from "../content/compare-rows.ts";
import { countKinds } from "../copy/count-kinds.ts";
import { checkForeignKeys } from "../copy/foreign-keys.ts";
import { profiledTables } from "../profile/profiled-tables.ts";
import { profileTables } from "../profile/profile-tables.ts";
import { resetPrinting, type SchemaListing, schemaOf, tablesOf } from "../dump/describe.ts";
import { limited } from "../connection/limited.ts";
import { releaseOf } from "../connection/programs.ts";
import { ruinInTurn } from "../copy/ruin.ts";
import { outcomeOf, runQuery } from "../copy/run-query.ts";
import { type MariadbSession, quoted, SessionEnded } from "../connection/session.ts";
import { connectionFailed } from "../connection/session-error.ts";
import { historyName } from "../schema.ts";

/** What was read of another program's dump while it was restored. */
export interface ForeignDump {
  readonly rows: readonly DumpedTable[];
  /** Null if it makes more than are remembered, or a table twice. */
  readonly objects: readonly DatabaseObject[] | null;
}

export class RestoredMariadb implements Restored {
  readonly #server: ScratchServer;
  readonly #admin: MariadbSession;
  readonly #databases: readonly string[];
  /** Counts of `inferredChecks`, by the tables' names in the metadata. */
  readonly #counts = new Map<string, bigint>();

  readonly #dump: ForeignDump | null;

  /**
   * `admin` may do everything, so no query of a check runs in it. It is closed with the restored
   * copy. Queries of checks run in the first of the databases. `dump` is what another program's
   * dump holds, if it was read.
   */
  constructor(
    server: ScratchServer,
    admin: MariadbSession,
    databases: readonly string[],
    dump: ForeignDump | null = null,
  ) {
    this.#dump = dump;
    this.#server = server;
    this.#admin = admin;
    this.#databases = databases;
  }

  /** Null for another release, which may print the same schema differently. */
  fingerprint(metadata: ForeignMetadata, signal: AbortSignal): Promise<string | null> {
    const { engine_version: version, schema_hash: signed } = metadata;
    const here = this.#server.runtime.engine_version;
    if (typeof version !== "string" || releaseOf(version) !== releaseOf(here)) return Promise.resolve(null);
    return this.#guarded(signal, async () => {
      const hashAs = async (as: SchemaListing): Promise<string> =>
        schemaHash(await schemaOf(this.#admin, this.#databases, version, as));
      const hash = await hashAs("now");
      let found = hash;
      for (const as of ["printed", "aged"] as const) if (found !== signed) found = await hashAs(as);
      await resetPrinting(this.#admin);
      return found === signed ? found : hash;
    });
  }

  query(text: string, { timeout_s, signal }: QueryLimits): Promise<QueryOutcome> {
    const [database] = this.#databases;
    if (database === undefined) return Promise.resolve({ kind: "error", message: "nothing was restored" });
    return this.#asReader(signal, (reader) =>
      runQuery({ admin: this.#admin, reader }, text, database, timeout_s),
    );
  }

  ruin(query: string, { timeout_s, budget_ms, signal }: RuinLimits): Promise<readonly Ruined[]> {
    const [database = ""] = this.#databases;
    return this.#asReader(signal, (reader) =>
      ruinInTurn(this.#admin, {
        query,
        databases: this.#databases,
        version: this.#server.runtime.engine_version,
        ask: (seconds) => runQuery({ admin: this.#admin, reader }, query, database, seconds),
        budget_ms,
        timeout_s,
      }),
    );
  }

  tables(signal: AbortSignal): Promise<readonly string[]> {
    return this.#guarded(signal, async () =>
      (await tablesOf(this.#admin, this.#databases)).flatMap(({ name, isVersioned }) =>
        isVersioned ? [name, historyName(name)] : [name],
      ),
    );
  }

  objectKinds(signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    return this.#guarded(signal, () => countKinds(this.#admin, this.#databases));
  }

  inferredChecks(context: InferredContext): Promise<readonly CheckOutcome[]> {
    const { signal } = context;
    return this.#asReader(signal, async (reader) => {
      const tables = await tablesOf(this.#admin, this.#databases);
      const sqlNames = new Map(
        tables.flatMap(({ name, database, table, isVersioned }) => {
          const from = `${quoted(database)}.${quoted(table)}`;
          const all = [historyName(name), `${from} for system_time all`] as const;
          return isVersioned ? [[name, from] as const, all] : [[name, from] as const];
        }),
      );
      const countQuery = (name: string): string =>
        `select count(*) as \`rows\` from ${sqlNames.get(name) ?? name}`;
      return checkTables({
        ...context,
        tables: [...sqlNames.keys()],
        readOne: async (name) =>
          outcomeOf(await reader.runForeign(`select 1 from ${sqlNames.get(name) ?? ""} limit 1`), 0).kind ===
          "rows",
        count: async (name, seconds) => {
          const sql = countQuery(name);
          const version = this.#server.runtime.engine_version;
          const counted = await reader.runForeign(
            seconds === undefined ? sql : limited(version, sql, seconds),
          );
          const rows = counted.ok ? counted.rows[0]?.[0] : undefined;
          if (rows === undefined) return outcomeOf(counted, seconds ?? 0);
          this.#counts.set(name, BigInt(rows));
          return { kind: "rows", rows: [`{"rows":${rows}}`] };
        },
        countQuery,
      });
    });
  }

  /** Its server is busy enough with the content. */
  checkConstraints({ alone_ms }: IntegrityLimits): Promise<FinishAlone> {
    return Promise.resolve((signal) => this.#checkForeignKeys(alone_ms, signal));
  }

  async #checkForeignKeys(budget_ms: number, signal: AbortSignal): Promise<readonly CheckOutcome[]> {
    const started = performance.now();
    const checked = await this.#asReader(signal, (reader) =>
      checkForeignKeys(reader, {
        databases: this.#databases,
        version: this.#server.runtime.engine_version,
        budget_ms,
      }),
    );
    return checked === null ? [] : [constraintsCheck(checked, { duration_ms: performance.now() - started })];
  }

  compareContent(comparison: ContentComparison): Promise<readonly CheckOutcome[]> {
    return this.#guarded(comparison.signal, async () => {
      const tables = await tablesOf(this.#admin, this.#databases);
      const databases = this.#databases;
      if (this.#dump !== null) {
        const { rows: held, objects: made } = this.#dump;
        const dumped = await compareDump(this.#server, { databases, tables }, held, comparison);
        const copy = { databases, version: this.#server.runtime.engine_version };
        const declared =
          made === null ? null : await compareDeclaredObjects(this.#admin, copy, made, comparison);
        return [dumped, declared].filter((each) => each !== null);
      }
      const rows = await compareRows(this.#server, { databases, tables }, comparison);
      const version = this.#server.runtime.engine_version;
      const objects = await compareListed(this.#admin, { databases, version }, comparison);
      return [rows, objects].filter((each) => each !== null);
    });
  }

  profile(profiling: Profiling): Promise<FoundProfile> {
    return this.#asReader(profiling.signal, async (reader) => {
      const all = await profiledTables(reader, this.#databases, this.#counts);
      const tables = await profileTables(this.#server, all, profiling);
      return { tables, left_out: all.length - tables.length };
    });
  }

  async close(): Promise<void> {
    await this.#admin.close();
    await this.#server.close();
  }

  #asReader<Result>(signal: AbortSignal, use: (reader: MariadbSession) => Promise<Result>): Promise<Result> {
    return this.#guarded(signal, async () => {
      const reader = await openSession(this.#server, READER, signal);
      try {
        return await use(reader);
      } finally {
        await reader.close();
      }
    });
  }

  async #guarded<Result>(signal: AbortSignal, use: () => Promise<Result>): Promise<Result> {
    try {
      return await use();
    } catch (error) {
      stopIfAborted(signal);
      throw error instanceof SessionEnded
        ? connectionFailed("the scratch server broke during the checks", error)
        : error;
    }
  }
}

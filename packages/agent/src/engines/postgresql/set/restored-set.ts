import type { CheckOutcome, TableProfile } from "@attestore/proof";
import { GRANT_KIND, inferredId, type QueryOutcome, rolesPresentCheck } from "../../../checks/index.ts";
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
  StartCommand,
} from "../../engine.ts";
import { compareObjects, expectedObjects } from "../../content/compare-objects.ts";
import { recordOf } from "../../content/expected-content.ts";
import { textsOf } from "../../foreign-texts.ts";
import { COUNTING_S } from "../../row-counts.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import type { RestoredPostgresql } from "../restored.ts";
import { contentKeyOf } from "../content/describe-content.ts";
import { setHash } from "./describe-set.ts";
import { GLOBALS_WORDS } from "./global-objects.ts";
import type { RestoredGlobals } from "./restore-globals.ts";
import { nameInSet } from "../name-in-set.ts";
import { databasesOfMetadata, rolesOfMetadata } from "./set-metadata.ts";
import { type UncomparedDatabase, withUncompared } from "./uncompared-databases.ts";

/** Several databases in one scratch server. */
export class RestoredSet implements Restored {
  readonly #server: ScratchServer;
  /** By the databases' own names, in the set's order. */
  readonly #databases: ReadonlyMap<string, RestoredPostgresql>;
  readonly #own: RestoredPostgresql;
  /** Null if the set has none. */
  readonly #globals: RestoredGlobals | null;

  constructor(
    server: ScratchServer,
    databases: ReadonlyMap<string, RestoredPostgresql>,
    own: RestoredPostgresql,
    globals: RestoredGlobals | null,
  ) {
    this.#server = server;
    this.#databases = databases;
    this.#own = own;
    this.#globals = globals;
  }

  async fingerprint(metadata: ForeignMetadata, signal: AbortSignal): Promise<string | null> {
    const hashes: [string, string][] = [];
    for (const [name, database] of this.#databases) {
      const hash = await database.fingerprint(metadata, signal);
      if (hash === null) return null;
      hashes.push([name, hash]);
    }
    return setHash(hashes);
  }

  async exactFingerprint(metadata: ForeignMetadata, signal: AbortSignal): Promise<string | null> {
    const hashes: [string, string][] = [];
    for (const [name, database] of this.#databases) {
      const hash = await database.exactFingerprint(metadata, signal);
      if (hash === null) return null;
      hashes.push([name, hash]);
    }
    return setHash(hashes);
  }

  /** Runs in the database that the source's connection names, or else in the first one. */
  query(text: string, limits: QueryLimits): Promise<QueryOutcome> {
    return this.#own.query(text, limits);
  }

  ruin(query: string, limits: RuinLimits): Promise<readonly Ruined[]> {
    return this.#own.ruin(query, limits);
  }

  get startCommand(): StartCommand | undefined {
    return this.#own.startCommand;
  }

  /**
   * By the names that the set's metadata use. All tables of one database come before those of the
   * next, the largest first.
   */
  async tables(signal: AbortSignal): Promise<readonly string[]> {
    const names: string[] = [];
    for (const [name, database] of this.#databases)
      names.push(...(await database.tables(signal)).map((table) => nameInSet(name, table)));
    return names;
  }

  async objectKinds(signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    const kinds = new Map<string, number>();
    let areGrantsKnown = true;
    for (const database of this.#databases.values()) {
      const own = await database.objectKinds(signal);
      areGrantsKnown &&= own.has(GRANT_KIND);
      for (const [kind, count] of own) kinds.set(kind, (kinds.get(kind) ?? 0) + count);
    }
    // The sum of some databases alone would look like a loss.
    if (!areGrantsKnown) kinds.delete(GRANT_KIND);
    return kinds;
  }

  async inferredChecks(context: InferredContext): Promise<readonly CheckOutcome[]> {
    const { metadata } = context;
    const outcomes: CheckOutcome[] = [];
    const deadline = performance.now() + (context.countBudget_s ?? COUNTING_S) * 1000;
    for (const [name, database] of this.#databases) {
      const countBudget_s = (deadline - performance.now()) / 1000;
      const own = tablesIn(metadata, name);
      const row_counts = databasesOfMetadata(metadata).find((each) => each.name === name)?.metadata[
        "row_counts"
      ];
      const ofThis = { ...metadata, table_count: own.length, row_counts, tables: own };
      outcomes.push(...(await database.inferredChecks({ ...context, countBudget_s, metadata: ofThis })));
    }
    // Roles are not data. They count only if another check read data.
    const roles = outcomes.length === 0 ? null : await this.#rolesCheck(context);
    return roles === null ? outcomes : [...outcomes, roles];
  }

  async compareContent({
    metadata,
    key,
    budget_ms,
    signal,
  }: ContentComparison): Promise<readonly CheckOutcome[]> {
    const deadline = performance.now() + budget_ms;
    const known = new Map(databasesOfMetadata(metadata).map((each) => [each.name, each.metadata]));
    const byName = new Map<string, readonly CheckOutcome[]>();
    const uncompared: UncomparedDatabase[] = [];
    // A large database must not take the time of all others.
    const smallestFirst = [...this.#databases].toSorted(
      ([a], [b]) => rowsIn(metadata, a, known.get(a)) - rowsIn(metadata, b, known.get(b)),
    );
    for (const [name, database] of smallestFirst) {
      const begin = nameInSet(name, "");
      const { content, extensions } = known.get(name) ?? {};
      const tables = tablesIn(metadata, name).map((table) => ({
        ...(table as object),
        name: nameOf(table).slice(begin.length),
      }));
      const ofThis = { ...metadata, content, extensions, tables };
      const outcomes = await database.compareContent({
        metadata: ofThis,
        key: contentKeyOf(key, name),
        budget_ms: deadline - performance.now(),
        signal,
      });
      byName.set(name, outcomes);
      const has = (what: string): boolean => outcomes.some(({ id }) => id === inferredId(what, name));
      uncompared.push({
        name,
        tables: has("content") ? 0 : countOf(recordOf(content)["tables"]),
        lacksObjects: !has("objects") && expectedObjects(ofThis) !== null,
      });
    }
    const compared = [...this.#databases.keys()].flatMap((name) => byName.get(name) ?? []);
    return [...withUncompared(compared, uncompared), ...this.#globalsCheck(metadata, key)];
  }

  checkConstraints({ alone_ms }: IntegrityLimits): Promise<FinishAlone> {
    return inTurn(this.#databases.values(), alone_ms, (database, limits) =>
      database.checkConstraints(limits),
    );
  }

  checkIndexes({ alone_ms }: IntegrityLimits): Promise<FinishAlone> {
    return inTurn(this.#databases.values(), alone_ms, (database, limits) => database.checkIndexes(limits));
  }

  /** The databases share the time, in the set's order. */
  async profile({ key, budget_ms, signal }: Profiling): Promise<FoundProfile> {
    const deadline = performance.now() + budget_ms;
    const tables: TableProfile[] = [];
    let left_out = 0;
    for (const [name, database] of this.#databases) {
      const left_ms = deadline - performance.now();
      const found = await database.profile({ key: contentKeyOf(key, name), budget_ms: left_ms, signal });
      tables.push(...found.tables.map((table) => ({ ...table, name: nameInSet(name, table.name) })));
      left_out += found.left_out;
    }
    return { tables, left_out };
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  /** No check of a backup by an earlier agent, or if the source did not list its globals. */
  #globalsCheck(metadata: ForeignMetadata, key: Buffer): CheckOutcome[] {
    const expected = expectedObjects(metadata, "globals");
    if (expected === null || this.#globals === null) return [];
    const started = performance.now();
    const { objects, refused } = this.#globals;
    const context = { of: null, words: GLOBALS_WORDS, what: "globals" as const, notLookedAt: refused };
    return [compareObjects(objects, expected, key, { ...context, duration_ms: performance.now() - started })];
  }

  async #rolesCheck({ metadata, signal }: InferredContext): Promise<CheckOutcome | null> {
    const started = performance.now();
    const expected = textsOf(rolesOfMetadata(metadata), 63);
    if (expected.length === 0) return null;
    const present = await this.#own.roles(signal);
    return rolesPresentCheck({ expected, present, duration_ms: performance.now() - started });
  }
}

/** The tables of one database that the metadata name. */
function tablesIn(metadata: ForeignMetadata, database: string): readonly unknown[] {
  const tables = Array.isArray(metadata["tables"]) ? (metadata["tables"] as unknown[]) : [];
  return tables.filter((table) => nameOf(table).startsWith(nameInSet(database, "")));
}

/** About how many rows a database has, as far as they were counted. */
function rowsIn(metadata: ForeignMetadata, database: string, own: ForeignMetadata = {}): number {
  const rest = recordOf(recordOf(own["row_counts"])["rest"]);
  const named = tablesIn(metadata, database).map((table) => recordOf(table)["rows"]);
  return [...named, rest["rows"]].reduce<number>((sum, rows) => sum + countOf(rows), 0);
}

function countOf(value: unknown): number {
  const count = Number(value);
  return Number.isFinite(count) && count > 0 ? count : 0;
}

function nameOf(table: unknown): string {
  const isNamed = typeof table === "object" && table !== null && "name" in table;
  return isNamed && typeof table.name === "string" ? table.name : "";
}

/** Looks at one database after the other, when nobody else uses any of them. */
function inTurn(
  databases: Iterable<RestoredPostgresql>,
  alone_ms: number,
  look: (database: RestoredPostgresql, limits: IntegrityLimits) => Promise<FinishAlone>,
): Promise<FinishAlone> {
  return Promise.resolve(async (signal) => {
    const deadline = performance.now() + alone_ms;
    const left_ms = (): number => deadline - performance.now();
    const outcomes: CheckOutcome[] = [];
    for (const database of databases) {
      const finish = await look(database, { beside_ms: left_ms(), alone_ms: left_ms(), signal });
      outcomes.push(...(await finish(signal)));
    }
    return outcomes;
  });
}

import type { CheckOutcome } from "@attestore/proof";
import { evaluateCheck, formatRow, type QueryOutcome } from "../../checks/index.ts";
import type {
  ContentComparison,
  FinishAlone,
  FoundProfile,
  InferredContext,
  IntegrityLimits,
  Profiling,
  QueryLimits,
  Restored,
  Ruined,
  RuinLimits,
  StartCommand,
} from "../engine.ts";
import { MAX_TABLES_LISTED } from "../row-counts.ts";

/** Why indexes and other objects are only counted. */
const WHY_NOT_COMPARED = "nobody listed them when the dump was made";
const ROWS = "inferred:rows:";

/**
 * A database restored from a dump that another program made. Nobody counted its rows or its objects
 * then. So they are compared with what passed tests found, and there must be some rows.
 */
export class RestoredForeign implements Restored {
  readonly #inner: Restored;

  constructor(inner: Restored) {
    this.#inner = inner;
  }

  /** Nobody knows the schema that was dumped. */
  fingerprint(): Promise<null> {
    return Promise.resolve(null);
  }

  query(text: string, limits: QueryLimits): Promise<QueryOutcome> {
    return this.#inner.query(text, limits);
  }

  get startCommand(): StartCommand | undefined {
    const { startCommand } = this.#inner;
    return startCommand?.bind(this.#inner);
  }

  tables(signal: AbortSignal): Promise<readonly string[]> {
    return this.#inner.tables?.(signal) ?? Promise.resolve([]);
  }

  objectKinds(signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    return this.#inner.objectKinds?.(signal) ?? Promise.resolve(new Map());
  }

  async inferredChecks(context: InferredContext): Promise<readonly CheckOutcome[]> {
    const started = performance.now();
    const present = await this.tables(context.signal);
    // The largest have a check of their own. The others are counted together.
    const tables = present.slice(0, MAX_TABLES_LISTED).map((name) => ({ name }));
    const table_count = Math.max(tables.length, present.length);
    const outcomes = await this.#inner.inferredChecks({ ...context, metadata: { tables, table_count } });
    const rows = outcomes.reduce((sum, { id, observed }) => {
      const count = id.startsWith(ROWS) ? observed["rows"] : 0;
      return sum + (typeof count === "number" ? count : 0);
    }, 0);
    const data = evaluateCheck(
      {
        id: "inferred:data",
        query: "how many tables the dump has, and how many rows were counted in them",
        expect: "tables > 0 and rows > 0",
      },
      {
        kind: "rows",
        rows: [
          formatRow([
            ["tables", present.length],
            ["rows", rows],
            ["why_not_compared", WHY_NOT_COMPARED],
          ]),
        ],
      },
      performance.now() - started,
    );
    return [...outcomes, data];
  }

  /** Compared with the content of the dump, as it was read while it was restored. */
  compareContent(comparison: ContentComparison): Promise<readonly CheckOutcome[]> {
    return this.#inner.compareContent?.(comparison) ?? Promise.resolve([]);
  }

  checkConstraints(limits: IntegrityLimits): Promise<FinishAlone> {
    return this.#inner.checkConstraints?.(limits) ?? Promise.resolve(() => Promise.resolve([]));
  }

  checkIndexes(limits: IntegrityLimits): Promise<FinishAlone> {
    return this.#inner.checkIndexes?.(limits) ?? Promise.resolve(() => Promise.resolve([]));
  }

  /** Whatever made the dump, the copy is a database like any other. */
  ruin(query: string, limits: RuinLimits): Promise<readonly Ruined[]> {
    return this.#inner.ruin?.(query, limits) ?? Promise.resolve([]);
  }

  profile(profiling: Profiling): Promise<FoundProfile> {
    return this.#inner.profile?.(profiling) ?? Promise.resolve({ tables: [], left_out: 0 });
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

import type { CheckOutcome } from "@attestore/proof";
import { evaluateCheck, formatRow, type QueryOutcome } from "../../checks/index.ts";
import type { InferredContext, LastPassed, QueryLimits, Restored, StartCommand } from "../engine.ts";
import { MAX_TABLES_LISTED } from "../row-counts.ts";

const ROWS = "inferred:rows:";

/**
 * A database that was restored from somebody else's dump. Nobody counted its rows when it was made:
 * they are held against what the last passed test found, and there have to be some.
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

  async inferredChecks(context: InferredContext): Promise<readonly CheckOutcome[]> {
    const started = performance.now();
    const present = (await this.#inner.tables?.(context.signal)) ?? [];
    const floors = floorsOf(context.lastPassed);
    const counted = new Set([...present.slice(0, MAX_TABLES_LISTED), ...floors.keys()]);
    const tables = [...counted].map((name) => ({ name, rows_at_least: floors.get(name) ?? 0 }));
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
          ]),
        ],
      },
      performance.now() - started,
    );
    return [...outcomes, data];
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

/** Half of what each table had when last it passed, so that one that was emptied since does not. */
function floorsOf(lastPassed: LastPassed | null): Map<string, number> {
  const floors = new Map<string, number>();
  for (const { id, observed } of lastPassed?.checks ?? []) {
    const rows = id.startsWith(ROWS) ? observed["rows"] : undefined;
    const isKept = lastPassed?.mayShrink?.includes(id.slice(ROWS.length)) !== true;
    if (isKept && typeof rows === "number" && Number.isSafeInteger(rows) && rows > 0)
      floors.set(id.slice(ROWS.length), Math.ceil(rows / 2));
  }
  return floors;
}

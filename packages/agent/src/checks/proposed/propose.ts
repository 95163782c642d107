import { type AskSource, type Candidate, type NotProposed, type Proposals, whyOfNoUse } from "./candidate.ts";
import { freshness, type ObservedTimes, type TimeColumn } from "./freshness.ts";
import { type Reference, rowRatio } from "./row-ratio.ts";

/** What an engine knows about a source. Each is asked for only when its turn comes. */
export interface ProposalSource {
  /** The columns of times, those of the tables that are written to most first. */
  times(): Promise<readonly TimeColumn[]>;
  /** Null if the source did not answer in time. */
  observe(column: TimeColumn): Promise<ObservedTimes | null>;
  /** Those with the most rows first. */
  references(): Promise<readonly Reference[]>;
  readonly ask: AskSource;
}

/** Enough to say why nothing is proposed. */
const MAX_TOLD = 10;

/**
 * Proposes one check of each kind: that the newest row is new, and that rows are in proportion to
 * those that they refer to. Each was tried on the source's data and on ruined data.
 */
export async function proposeFromSource(source: ProposalSource): Promise<Proposals> {
  const notProposed: NotProposed[] = [];
  const first = async <Item>(
    items: readonly Item[],
    idOf: (item: Item) => string,
    candidateOf: (item: Item) => Promise<Candidate | string>,
  ): Promise<Candidate[]> => {
    for (const item of items) {
      const candidate = await candidateOf(item);
      const why = typeof candidate === "string" ? candidate : await whyOfNoUse(candidate, source.ask);
      if (why === null && typeof candidate !== "string") return [candidate];
      notProposed.push({ id: idOf(item), why: why ?? "" });
    }
    return [];
  };
  const fresh = await first(
    await source.times(),
    ({ table, column }) => `the age of ${table}.${column}`,
    async (column) => {
      const observed = await source.observe(column);
      return observed === null ? "the source did not answer in time" : freshness(column, observed);
    },
  );
  const ratio = await first(
    await source.references(),
    ({ child, parent }) => `${child.table} for each of ${parent.table}`,
    (reference) => Promise.resolve(rowRatio(reference)),
  );
  return {
    checks: [...fresh, ...ratio].map(({ id, query, expect }) => ({ id, query, expect })),
    notProposed: notProposed.slice(0, MAX_TOLD),
  };
}

import { type AskSource, type Candidate, type NotProposed, type Proposals, whyOfNoUse } from "./candidate.ts";
import { freshness, observedTimes, type TimeColumn } from "./freshness.ts";
import { type CountedReference, type Reference, rowRatio } from "./row-ratio.ts";

/** An engine's facts about a source. Each is asked for only when its turn comes. */
export interface ProposalSource {
  /** The columns of times, those of the tables that are written to most first. */
  times(): Promise<readonly TimeColumn[]>;
  /** The numbers of `ObservedTimes` from `age_s` on; none if the source did not answer in time. */
  observe(column: TimeColumn): Promise<readonly string[] | undefined>;
  references(): Promise<readonly Reference[]>;
  /** How many rows each has; none if the source did not answer in time. */
  count(tables: readonly string[]): Promise<readonly string[] | undefined>;
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
      if (observed === undefined) return "the source did not answer in time";
      return freshness(column, observedTimes(observed));
    },
  );
  const ratio = await first(
    await countedReferences(source),
    ({ child, parent }) => `${child.table} for each of ${parent.table}`,
    (reference) => Promise.resolve(rowRatio(reference)),
  );
  return {
    checks: [...fresh, ...ratio].map(({ id, query, expect }) => ({ id, query, expect })),
    notProposed: notProposed.slice(0, MAX_TOLD),
  };
}

/** Those with the most rows first. */
async function countedReferences(source: ProposalSource): Promise<readonly CountedReference[]> {
  const found: CountedReference[] = [];
  for (const { child, parent } of await source.references()) {
    const counts = await source.count([child.table, parent.table]);
    if (counts === undefined) continue;
    const [childRows = 0, parentRows = 0] = counts.map(Number);
    found.push({ child: { ...child, rows: childRows }, parent: { ...parent, rows: parentRows } });
  }
  return found.toSorted((a, b) => b.child.rows - a.child.rows);
}

import type { Document, MongoClient } from "mongodb";
import type { QueryOutcome } from "../../checks/index.ts";
import type { Ruined } from "../engine.ts";
import { aggregate } from "./aggregate.ts";
import { namedFields, otherCollections } from "./named-fields.ts";

interface Ruining {
  readonly timeout_s: number;
  /** In the time of `performance.now()`. */
  readonly deadline: number;
}

interface Query {
  readonly database: string;
  readonly collection: string;
  readonly pipeline: readonly Document[];
}

/** Enough to show whether a check can fail. */
const MAX_WAYS = 24;
const YEAR_MS = 31_536_000_000;
/** No document matches it. */
const NOTHING: Document = { $match: { _id: { $in: [] } } };

/**
 * Runs a check's query on ruined documents, each time ruined in another way. A stage before the
 * pipeline ruins them. So the copy itself does not change, and no transaction is needed, which not
 * every server has.
 */
export async function ruinInTurn(client: MongoClient, query: Query, ruining: Ruining): Promise<Ruined[]> {
  const { database, collection, pipeline } = query;
  const name = `${database}.${collection}`;
  const ask = (
    stages: readonly Document[],
    format?: ((document: Document) => string) | null,
  ): Promise<QueryOutcome> =>
    within(ruining, (timeout_s) => aggregate(client, { database, collection }, stages, timeout_s, format));
  const first = (...stages: readonly Document[]): Promise<QueryOutcome> =>
    ask([...stages, { $limit: 1 }], null);
  const ruined: Ruined[] = [];
  // Not every server changes a field of documents in a list.
  const tryIt = async (how: string, stage: Document, asBefore: Document): Promise<void> => {
    const left = await first(stage, { $match: asBefore });
    if (left.kind === "rows" && !isEmpty(left)) ruined.push(notTried(how, "the server did not change all"));
    else ruined.push({ how, outcome: await ask([stage, ...pipeline]) });
  };
  const any = await first();
  if (isEmpty(any)) ruined.push(notTried(`an empty ${name}`, "there is nothing in it"));
  else await tryIt(`an empty ${name}`, NOTHING, {});
  for (const field of namedFields(pipeline)) {
    if (ruined.length >= MAX_WAYS) {
      ruined.push(notTried("more fields", "the check names too many"));
      break;
    }
    const isSet = { [field]: { $ne: null } };
    const found = await first({ $match: isSet });
    if (found.kind === "timeout") {
      ruined.push(notTried(`${name}.${field} and more`, "no time was left"));
      break;
    }
    if (found.kind === "error" || isEmpty(found)) continue;
    await tryIt(`${name}.${field} null in every document`, { $set: { [field]: null } }, isSet);
    const newest = await newestOf(field, ask);
    if (newest !== null)
      await tryIt(
        `${name}.${field} a year before its newest`,
        { $set: { [field]: new Date(newest - YEAR_MS) } },
        { [field]: { $gt: new Date(newest - YEAR_MS) } },
      );
  }
  for (const other of otherCollections(pipeline))
    ruined.push(notTried(`an empty ${database}.${other}`, "a later stage reads it"));
  return ruined;
}

function isEmpty(found: QueryOutcome): boolean {
  return found.kind === "rows" && found.rows.length === 0;
}

/** In milliseconds since 1970; null if no document has a date in that field. */
async function newestOf(
  field: string,
  ask: (stages: readonly Document[], format: (document: Document) => string) => Promise<QueryOutcome>,
): Promise<number | null> {
  const found = await ask(
    [{ $match: { [field]: { $type: "date" } } }, { $sort: { [field]: -1 } }, { $limit: 1 }],
    (document) => {
      const value: unknown = field
        .split(".")
        .reduce<unknown>((inner, part) => (inner as Document | undefined)?.[part], document);
      return value instanceof Date ? String(value.getTime()) : "";
    },
  );
  const text = found.kind === "rows" ? (found.rows[0] ?? "") : "";
  return text === "" || text === "NaN" ? null : Number(text);
}

function within(
  { timeout_s, deadline }: Ruining,
  ask: (timeout_s: number) => Promise<QueryOutcome>,
): Promise<QueryOutcome> {
  const left_s = Math.min((deadline - performance.now()) / 1000, timeout_s);
  return left_s < 0.001 ? Promise.resolve({ kind: "timeout", after_s: 0 }) : ask(left_s);
}

function notTried(how: string, reason: string): Ruined {
  return { how, outcome: { kind: "not_tried", reason } };
}

import { BSON, type Document } from "mongodb";

/** A check's question to MongoDB: an aggregation that cannot write. */
export interface CheckQuery {
  /** Null for the first restored database. */
  readonly database: string | null;
  readonly collection: string;
  readonly pipeline: readonly Document[];
}

const FIELDS = ["database", "collection", "pipeline"];
const WRITING = ["$out", "$merge"];
/** JavaScript. A scratch mongod also refuses to run it (`--noscripting`). */
const CODE = ["$where", "$function", "$accumulator"];
const EXAMPLE = `{"collection": "orders", "pipeline": [{"$match": {"status": "paid"}}, {"$count": "n"}]}`;

/**
 * Parses a check's query: JSON in MongoDB's extended form, so that it can contain dates and
 * decimals. If something is wrong, returns a sentence that says so.
 */
export function parseCheckQuery(text: string): CheckQuery | string {
  let value: unknown;
  try {
    value = BSON.EJSON.parse(text);
  } catch {
    return `the query is not JSON, such as ${EXAMPLE}`;
  }
  if (!isDocument(value)) return `the query is not a JSON object, such as ${EXAMPLE}`;
  const unknown = Object.keys(value).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined)
    return `the query has a field ${unknown.slice(0, 40)}; it takes ${FIELDS.join(", ")}`;
  const { database = null, collection, pipeline } = value;
  if (typeof collection !== "string" || collection === "") return "the query's collection must be a name";
  if (database !== null && (typeof database !== "string" || database === ""))
    return "the query's database must be a name";
  if (!Array.isArray(pipeline) || !pipeline.every(isDocument))
    return "the query's pipeline must be a list of stages";
  const writing = pipeline
    .flatMap((stage: Document) => Object.keys(stage))
    .find((name) => WRITING.includes(name));
  if (writing !== undefined) return `a check only reads: its pipeline cannot have ${writing}`;
  const code = operatorIn(pipeline, CODE);
  if (code !== null) return `a check runs no code: its pipeline cannot have ${code}`;
  return { database, collection, pipeline };
}

/** The first of these names that a field has at any depth. */
function operatorIn(value: unknown, names: readonly string[]): string | null {
  if (typeof value !== "object" || value === null) return null;
  for (const [name, inner] of Object.entries(value)) {
    const found = names.includes(name) ? name : operatorIn(inner, names);
    if (found !== null) return found;
  }
  return null;
}

function isDocument(value: unknown): value is Document {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

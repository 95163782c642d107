import { BSON, type Document, type MongoClient, MongoServerError } from "mongodb";
import type { QueryOutcome } from "../../checks/index.ts";
import { RunError } from "../../errors/run-error.ts";
import { isOfTheConnection } from "./client.ts";
import type { Namespace } from "./describe.ts";
import { NotAScalar, rowOf } from "./row-of.ts";

/** MaxTimeMSExpired, and FerretDB's code for it. */
const TIMED_OUT: ReadonlySet<unknown> = new Set([50]);

/**
 * Returns at most two rows. A `timeout_s` of 0 means no limit. Without a
 * `format` a row is `{}`, and no document is decoded: the driver cannot decode all that MongoDB
 * stores.
 */
export async function aggregate(
  client: MongoClient,
  { database, collection }: Omit<Namespace, "isView">,
  pipeline: readonly Document[],
  timeout_s: number,
  format: ((document: Document) => string) | null = rowOf,
): Promise<QueryOutcome> {
  const cursor = client
    .db(database)
    .collection(collection)
    .aggregate<Uint8Array>([...pipeline], {
      batchSize: 2,
      raw: true,
      ...(timeout_s === 0 ? {} : { maxTimeMS: Math.ceil(timeout_s * 1000) }),
    });
  try {
    const rows: string[] = [];
    for (let row = await cursor.next(); row !== null && rows.length < 2; row = await cursor.next())
      rows.push(format === null ? "{}" : format(decoded(row)));
    return { kind: "rows", rows };
  } catch (error) {
    return outcomeOf(error, timeout_s);
  } finally {
    await cursor.close().catch(() => undefined);
  }
}

class NotDecoded extends Error {}

/** Regular expressions keep their text, because not each of MongoDB's is one in JavaScript. */
function decoded(bytes: Uint8Array): Document {
  try {
    return BSON.deserialize(bytes, { useBigInt64: true, bsonRegExp: true });
  } catch (error) {
    throw new NotDecoded("the document cannot be decoded", { cause: error });
  }
}

function outcomeOf(error: unknown, timeout_s: number): QueryOutcome {
  if (error instanceof NotDecoded)
    return { kind: "error", message: `${error.message}: project it to fields that are valid UTF-8` };
  if (error instanceof NotAScalar)
    return { kind: "error", message: `${error.message}: project it to a number, text, date or truth value` };
  if (!(error instanceof MongoServerError) || isOfTheConnection(error)) throw error;
  if (TIMED_OUT.has(error.code)) return { kind: "timeout", after_s: timeout_s };
  if (/No space left|disk is full/i.test(error.message)) {
    throw new RunError(
      "disk_full",
      "the scratch directory's file system filled up during the checks: give it more space",
    );
  }
  return { kind: "error", message: error.message };
}

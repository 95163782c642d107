import { createHmac } from "node:crypto";
import type { TableProfile } from "@attestore/proof";
import type { Document, MongoClient } from "mongodb";
import { ColumnProfiler, type Measured, measureValue, MIN_ROWS } from "../../../checks/index.ts";
import type { FoundProfile, Profiling } from "../../engine.ts";
import { isOfTheConnection } from "../client.ts";
import { nameOf, type Namespace } from "../describe.ts";
import { eachField, type FieldValue } from "./bson-fields.ts";

/** How many documents of a larger collection are read. */
const SAMPLED = 30_000;
/** How many documents decide which fields are looked at. */
const FIRST = 500;
/** How many collections are profiled, the largest first. */
const MAX_COLLECTIONS = 200;
/** How many fields of a collection are looked at, those that most documents have first. */
const MAX_FIELDS = 40;
/** Fewer documents have a field whose name may be data. */
const MIN_SHARE = 0.05;
/** How many names of fields are counted at most. */
const MAX_NAMES = 5_000;

interface Counted {
  readonly namespace: Namespace;
  readonly documents: number;
}

/**
 * Smallest first, until the time is up. A collection that cannot be read to its end has no profile.
 * @throws What `isOfTheConnection` says.
 */
export async function profileCollections(
  client: MongoClient,
  namespaces: readonly Namespace[],
  { key, budget_ms, signal }: Profiling,
): Promise<FoundProfile> {
  const until = performance.now() + budget_ms;
  const counted: Counted[] = [];
  for (const namespace of namespaces) {
    const { database, collection } = namespace;
    const documents = await client.db(database).collection(collection).estimatedDocumentCount();
    counted.push({ namespace, documents });
  }
  const tables: TableProfile[] = [];
  const wanted = counted
    .filter(({ documents }) => documents >= MIN_ROWS)
    .toSorted((a, b) => b.documents - a.documents)
    .slice(0, MAX_COLLECTIONS)
    .toReversed();
  const largest = wanted.at(-1);
  const samples = largest !== undefined && (await hasSample(client, largest.namespace));
  for (const each of wanted) {
    if (signal.aborted || performance.now() >= until) break;
    const found = await profileOf(client, each, { key, until, samples });
    if (found !== null) tables.push(found);
  }
  return { tables, left_out: counted.length - tables.length };
}

/** FerretDB has no `$sample`. */
async function hasSample(client: MongoClient, { database, collection }: Namespace): Promise<boolean> {
  try {
    await client
      .db(database)
      .collection(collection)
      .aggregate([{ $sample: { size: 1 } }])
      .next();
    return true;
  } catch (error) {
    if (isOfTheConnection(error)) throw error;
    return false;
  }
}

interface Reading {
  readonly key: Buffer;
  /** Whether the server chooses documents at random; otherwise all are read. */
  readonly samples: boolean;
  /** In the time of `performance.now()`. */
  readonly until: number;
}

async function profileOf(
  client: MongoClient,
  { namespace, documents }: Counted,
  reading: Reading,
): Promise<TableProfile | null> {
  const { key } = reading;
  const name = nameOf(namespace);
  try {
    const fields = await fieldsOf(client, { namespace, documents }, reading);
    const seed = createHmac("sha256", key).update(`profile ${name}`).digest().readUInt32BE() >>> 1;
    const profilers = new Map(fields.map((field) => [field, new ColumnProfiler(field, seed)]));
    let rows = 0;
    for await (const document of sampled(client, { namespace, documents }, SAMPLED, reading)) {
      const found = new Map<string, Measured>();
      eachField(document, (path, value) => {
        if (profilers.has(path)) found.set(path, measured(value));
      });
      for (const [field, profiler] of profilers) profiler.add(found.get(field) ?? null);
      rows += 1;
    }
    const columns = [...profilers.values()].flatMap((each) => each.end() ?? []);
    if (columns.length === 0) return null;
    return { name, rows: documents <= SAMPLED ? rows : Number(documents.toPrecision(2)), columns };
  } catch (error) {
    if (isOfTheConnection(error)) throw error;
    return null;
  }
}

async function fieldsOf(client: MongoClient, counted: Counted, reading: Reading): Promise<string[]> {
  const counts = new Map<string, number>();
  let documents = 0;
  for await (const document of sampled(client, counted, FIRST, reading)) {
    documents += 1;
    const count = (path: string): void => {
      const before = counts.get(path) ?? 0;
      if (before > 0 || counts.size < MAX_NAMES) counts.set(path, before + 1);
    };
    // A field that somebody set to null everywhere is still one of the collection's.
    eachField(document, count, count);
  }
  return [...counts]
    .filter(([, count]) => count >= MIN_SHARE * documents)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, MAX_FIELDS)
    .map(([path]) => path);
}

class OutOfTime extends Error {}

/** About `size` documents, at random: nobody at the source knows which are read. */
async function* sampled(
  client: MongoClient,
  { namespace, documents }: Counted,
  size: number,
  { until, samples }: Reading,
): AsyncGenerator<Buffer, void, undefined> {
  const left_ms = Math.floor(until - performance.now());
  if (left_ms < 1) throw new OutOfTime();
  const isAll = documents <= size;
  const pipeline: Document[] = isAll || !samples ? [] : [{ $sample: { size } }];
  const share = isAll || samples ? 1 : size / documents;
  const cursor = client
    .db(namespace.database)
    .collection(namespace.collection)
    .aggregate<Uint8Array>(pipeline, { raw: true, maxTimeMS: left_ms, batchSize: 100 });
  try {
    for await (const document of cursor) {
      if (performance.now() > until) throw new OutOfTime();
      if (share < 1 && Math.random() >= share) continue;
      yield Buffer.from(document.buffer, document.byteOffset, document.byteLength);
    }
  } finally {
    await cursor.close().catch(() => undefined);
  }
}

function measured(value: FieldValue): Measured {
  switch (value.kind) {
    case "text":
      return measureValue(value.start, value.bytes);
    case "bytes":
      return measureValue(value.start, value.bytes);
    case "time":
      return { value: String(value.at_ms), at_ms: value.at_ms };
    case "plain":
      return { value: value.value };
    case "other":
      return {};
  }
}

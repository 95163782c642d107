import type { CheckOutcome } from "@attestore/proof";
import type { MongoClient } from "mongodb";
import type { QueryOutcome } from "../../checks/index.ts";
import type { Child } from "../../processes/child.ts";
import { checkTables } from "../check-tables.ts";
import { compareDeclared } from "../content/compare-declared.ts";
import { expectedObjects } from "../content/compare-objects.ts";
import type {
  ContentComparison,
  ForeignMetadata,
  FoundProfile,
  InferredContext,
  Profiling,
  QueryLimits,
  Restored,
  Ruined,
  RuinLimits,
} from "../engine.ts";
import { kindsOf, schemaHash } from "../schema.ts";
import { aggregate } from "./aggregate.ts";
import { parseCheckQuery } from "./check-query.ts";
import { withClient } from "./client.ts";
import { contentOfDump } from "../content/content-of-dump.ts";
import { expectedContent } from "../content/expected-content.ts";
import type { CollectionContent } from "./content/archive-digests.ts";
import { objectsOfCollection } from "./content/declared-collections.ts";
import { compareDocuments } from "./content/compare-documents.ts";
import { compareLook } from "./content/compare-look.ts";
import { APART } from "./content/content-apart.ts";
import { documentsTag, nameOf as documentsName } from "./content/sign-documents.ts";
import { listCollections, look, nameOf, type Namespace } from "./describe.ts";
import type { DatabaseObject } from "../content/tagged-objects.ts";
import { OBJECTS_VERSIONS } from "./exact-objects.ts";
import { productOf, releaseOf } from "./product.ts";
import { profileCollections } from "./profile/profile-collections.ts";
import { findTool } from "./programs.ts";
import { ruinInTurn } from "./ruin.ts";
import type { ScratchMongodb } from "./scratch-mongodb.ts";

/** Counts the documents of a collection. */
const COUNT = [{ $count: "rows" }];
const OBJECTS_WORDS = {
  query: "the options of each collection, each index, and each view",
  hint: "compare what listCollections and listIndexes give of both",
};

/** Kinds that every server restores. It may accept an option that it lacks, and ignore it. */
const CERTAIN: ReadonlySet<string> = new Set(["collection", "index", "view"]);

/** Of another program's archive; null if it was not understood. */
export interface ArchiveHeld {
  readonly content: readonly CollectionContent[] | null;
  readonly objects: readonly DatabaseObject[] | null;
}

export class RestoredMongodb implements Restored {
  readonly #server: ScratchMongodb;
  readonly #version: string;
  readonly #databases: readonly string[];

  readonly #dump: ArchiveHeld | null;

  /** `dump`: what another program's archive holds, if it was read. */
  constructor(
    server: ScratchMongodb,
    version: string,
    databases: readonly string[],
    dump: ArchiveHeld | null = null,
  ) {
    this.#server = server;
    this.#dump = dump;
    this.#version = version;
    this.#databases = databases;
  }

  /** Another release or product may show the same options in another way. */
  fingerprint(metadata: ForeignMetadata, signal: AbortSignal): Promise<string | null> {
    const { engine_version: version } = metadata;
    if (!this.#isLike(version)) return Promise.resolve(null);
    return this.#inClient(signal, async (client) => {
      const { lines, earlier } = await look(client, this.#databases);
      // An earlier agent kept the order of names in an index's projection.
      const before = schemaHash(earlier.lines);
      return before === metadata["schema_hash"] ? before : schemaHash(lines);
    });
  }

  query(text: string, { timeout_s, signal }: QueryLimits): Promise<QueryOutcome> {
    const query = parseCheckQuery(text);
    if (typeof query === "string") return Promise.resolve({ kind: "error", message: query });
    const database = query.database ?? this.#databases[0];
    if (database === undefined || !this.#databases.includes(database))
      return Promise.resolve({ kind: "error", message: "the restored data has no such database" });
    return this.#inClient(signal, (client) =>
      aggregate(client, { database, collection: query.collection }, query.pipeline, timeout_s),
    );
  }

  ruin(text: string, { timeout_s, budget_ms, signal }: RuinLimits): Promise<readonly Ruined[]> {
    const query = parseCheckQuery(text);
    const database = typeof query === "string" ? undefined : (query.database ?? this.#databases[0]);
    if (typeof query === "string" || database === undefined) return Promise.resolve([]);
    return this.#inClient(signal, (client) =>
      ruinInTurn(client, { ...query, database }, { timeout_s, deadline: performance.now() + budget_ms }),
    );
  }

  /**
   * Starts one of the customer's programs. ATTESTORE_RESTORED is the mongodb:// URI of the restored
   * copy.
   */
  readonly startCommand = ([command = "", ...args]: readonly string[], signal: AbortSignal): Promise<Child> =>
    this.#server.start({ command, args, env: { ATTESTORE_RESTORED: this.#server.uriInside }, signal });

  tables(signal: AbortSignal): Promise<readonly string[]> {
    return this.#inClient(signal, async (client) => {
      const sizes = await Promise.all(
        (await this.#collections(client)).map(async (namespace) => {
          const { database, collection } = namespace;
          const documents = await client.db(database).collection(collection).estimatedDocumentCount();
          return [nameOf(namespace), documents] as const;
        }),
      );
      return sizes.toSorted(([, a], [, b]) => b - a).map(([name]) => name);
    });
  }

  objectKinds(signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    return this.#inClient(signal, async (client) => kindsOf((await look(client, this.#databases)).lines));
  }

  inferredChecks(context: InferredContext): Promise<readonly CheckOutcome[]> {
    const { signal } = context;
    return this.#inClient(signal, async (client) => {
      const collections = new Map((await this.#collections(client)).map((each) => [nameOf(each), each]));
      const found = (name: string): Namespace =>
        collections.get(name) ?? { database: "", collection: name, isView: false };
      return checkTables({
        ...context,
        tables: [...collections.keys()],
        readOne: async (name) =>
          (await aggregate(client, found(name), [{ $limit: 1 }], 0, null)).kind === "rows",
        count: async (name, seconds = 0) => {
          const counted = await aggregate(client, found(name), COUNT, seconds);
          // An empty collection gives no row.
          return counted.kind === "rows" && counted.rows.length === 0
            ? { kind: "rows", rows: [`{"rows":0}`] }
            : counted;
        },
        countQuery: (name) => JSON.stringify({ ...withoutView(found(name)), pipeline: COUNT }),
      });
    });
  }

  async compareContent(comparison: ContentComparison): Promise<readonly CheckOutcome[]> {
    if (this.#dump !== null) return this.#compareDump(this.#dump, comparison);
    const started = performance.now();
    const { metadata, key, signal } = comparison;
    const found = await this.#inClient(signal, (client) => look(client, this.#databases));
    const duration_ms = performance.now() - started;
    const version = metadata["engine_version"];
    const expected = this.#isLike(version) ? expectedObjects(metadata, "objects", OBJECTS_VERSIONS) : null;
    // FerretDB builds documents again from what it stores.
    const keepsBytes = productOf(version) === "MongoDB" || this.#isLike(version);
    const mongodump = keepsBytes ? await findTool("mongodump").catch(() => null) : null;
    const content = expectedContent(metadata, APART);
    const documents =
      mongodump === null || content === null
        ? null
        : await compareDocuments(this.#server, mongodump, found, content, comparison);
    const objects =
      expected === null ? null : compareLook(found, expected, { key, duration_ms, words: OBJECTS_WORDS });
    return [documents, objects].filter((each) => each !== null);
  }

  async #compareDump(
    { content, objects }: ArchiveHeld,
    comparison: ContentComparison,
  ): Promise<readonly CheckOutcome[]> {
    const declared = objects === null ? null : await this.#compareDeclared(objects, comparison);
    const documents = content === null ? [] : await this.#compareDocuments(content, comparison);
    return [...documents, ...(declared === null ? [] : [declared])];
  }

  async #compareDeclared(
    declared: readonly DatabaseObject[],
    { key, signal }: ContentComparison,
  ): Promise<CheckOutcome | null> {
    const started = performance.now();
    const listed = await this.#inClient(signal, (client) => listCollections(client, this.#databases));
    return compareDeclared(
      {
        declared,
        restored: listed.flatMap(objectsOfCollection),
        isCertain: ({ kind }) => CERTAIN.has(kind),
        isLookedFor: () => true,
      },
      key,
      { words: OBJECTS_WORDS, duration_ms: performance.now() - started },
    );
  }

  /** FerretDB builds documents again from what it stores, and not always as MongoDB wrote them. */
  async #compareDocuments(
    dump: readonly CollectionContent[],
    comparison: ContentComparison,
  ): Promise<readonly CheckOutcome[]> {
    const { signal } = comparison;
    const namespaces = await this.#inClient(signal, (client) => this.#collections(client));
    const names = namespaces.map(nameOf);
    const held = new Map(dump.map((each) => [documentsName(each), each]));
    const lost = names.filter((name) => !held.has(name));
    const expected = contentOfDump(
      new Map(
        names.flatMap((name) => {
          const documents = held.get(name);
          return documents === undefined ? [] : [[name, documentsTag(comparison.key, documents)] as const];
        }),
      ),
      lost.map((name) => ({ name, why: "not_in_dump" })),
    );
    const mongodump = await findTool("mongodump").catch(() => null);
    if (mongodump === null || expected === null) return [];
    const isRebuilt = productOf(this.#version) === "FerretDB";
    const compared = await compareDocuments(
      this.#server,
      mongodump,
      { namespaces },
      expected,
      comparison,
      isRebuilt ? "rebuilt" : null,
    );
    return compared === null ? [] : [compared];
  }

  profile(profiling: Profiling): Promise<FoundProfile> {
    return this.#inClient(profiling.signal, async (client) =>
      profileCollections(client, await this.#collections(client), profiling),
    );
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  #isLike(version: unknown): boolean {
    return productOf(version) === productOf(this.#version) && releaseOf(version) === releaseOf(this.#version);
  }

  async #collections(client: MongoClient): Promise<readonly Namespace[]> {
    return (await look(client, this.#databases)).namespaces.filter(({ isView }) => !isView);
  }

  #inClient<Result>(signal: AbortSignal, use: (client: MongoClient) => Promise<Result>): Promise<Result> {
    return withClient(
      this.#server.uri,
      { what: "the scratch server broke during the checks", signal },
      ({ client }) => use(client),
    );
  }
}

function withoutView({ database, collection }: Namespace): Omit<Namespace, "isView"> {
  return { database, collection };
}

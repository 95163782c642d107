import { createHash, createHmac, type Hash } from "node:crypto";
import { BSON } from "mongodb";
import { DigestSum } from "../../content/digest-sum.ts";

/** The content of one collection in an archive. */
export interface CollectionContent {
  readonly database: string;
  readonly collection: string;
  readonly documents: bigint;
  /** How long the documents are together. */
  readonly bytes: bigint;
  /** In hex: eight numbers of 32 bits, each the sum of those in the documents' digests. */
  readonly sum: string;
  /** In hex: SHA-256 over the documents' digests, one after another. */
  readonly inOrder: string;
}

/** mongodump's archives begin with this number of 32 bits. */
const MAGIC = 0x8199_e26d | 0;
/** Ends a part of the archive, in place of a document's length. */
const TERMINATOR = -1;
/** MongoDB's limit for a document, and what its tools allow beyond it. */
const MAX_DOCUMENT = (16 << 20) + (16 << 10);
const MIN_DOCUMENT = 5;
/** A block's header has two names and two fields. */
const MAX_HEADER = 1 << 10;
/** Each collection takes some memory. */
const MAX_COLLECTIONS = 100_000;

type Part =
  /** The first four bytes. */
  | "magic"
  /** Documents that describe the server and each collection. */
  | "prelude"
  /** Before a block's header. */
  | "header"
  /** The documents of one collection. */
  | "block"
  /** After the header that says that a collection is complete. */
  | "last";

/**
 * Reads an archive of mongodump while it passes, and adds up each collection's documents. It keeps
 * no document; only where each begins and ends matters.
 */
export class ArchiveDigests {
  readonly #key: Buffer;
  readonly #prelude: ((document: Buffer) => void) | null;
  readonly #collections = new Map<string, Collection>();
  #part: Part | "broken" = "magic";
  /** The bytes of a number of four bytes that two pieces share. */
  #begun: Buffer = Buffer.alloc(0);
  /** The bytes of the current document that are still to come. */
  #left = 0;
  #document: Hash | null = null;
  #header: Buffer[] = [];
  #current: Collection | null = null;

  /** `prelude` gets each document that describes the server or a collection. */
  constructor(key: Buffer, prelude: ((document: Buffer) => void) | null = null) {
    this.#prelude = prelude;
    this.#key = createHmac("sha256", key).update("documents").digest();
  }

  add(piece: Buffer): void {
    let rest = piece;
    while (rest.length > 0 && this.#part !== "broken")
      rest = this.#left > 0 ? this.#goOn(rest) : this.#begin(rest);
  }

  /** The complete collections; null if this is none of mongodump's archives. */
  complete(): CollectionContent[] | null {
    if (this.#part === "broken") return null;
    return [...this.#collections.values()]
      .filter(({ isComplete }) => isComplete)
      .map((each) => each.content());
  }

  /** The same; also null if the archive ends where none may end. */
  end(): CollectionContent[] | null {
    const isWhole = this.#part === "header" && this.#left === 0 && this.#begun.length === 0;
    return isWhole && [...this.#collections.values()].every(({ isComplete }) => isComplete)
      ? this.complete()
      : null;
  }

  /** Takes the four bytes before everything else. */
  #begin(bytes: Buffer): Buffer {
    const missing = 4 - this.#begun.length;
    if (this.#begun.length === 0 && bytes.length >= 4)
      return this.#take(bytes.readInt32LE(0), bytes.subarray(0, 4), bytes.subarray(4));
    const begun = Buffer.concat([this.#begun, bytes.subarray(0, missing)]);
    const rest = bytes.subarray(missing);
    this.#begun = begun.length === 4 ? Buffer.alloc(0) : begun;
    return begun.length === 4 ? this.#take(begun.readInt32LE(0), begun, rest) : rest;
  }

  #take(number: number, bytes: Buffer, rest: Buffer): Buffer {
    if (this.#part === "magic") this.#part = number === MAGIC ? "prelude" : "broken";
    else if (number === TERMINATOR) this.#part = this.#part === "header" ? "broken" : "header";
    else if (
      this.#part === "last" ||
      number < MIN_DOCUMENT ||
      number > (this.#part === "header" ? MAX_HEADER : MAX_DOCUMENT)
    )
      this.#part = "broken";
    else {
      this.#left = number - bytes.length;
      if (this.#part === "block") this.#current?.bytesToCome(number);
      if (this.#isKept) this.#header = [Buffer.from(bytes)];
      if (this.#part === "block") this.#document = createHash("sha256").update(this.#key).update(bytes);
    }
    return rest;
  }

  #goOn(bytes: Buffer): Buffer {
    const own = bytes.subarray(0, this.#left);
    this.#left -= own.length;
    if (this.#isKept) this.#header.push(Buffer.from(own));
    this.#document?.update(own);
    if (this.#left === 0) this.#ended();
    return bytes.subarray(own.length);
  }

  #ended(): void {
    if (this.#document !== null) {
      this.#current?.add(this.#document.digest());
      this.#document = null;
    }
    if (this.#part === "prelude") this.#prelude?.(Buffer.concat(this.#header));
    if (this.#part === "header") this.#part = this.#open(Buffer.concat(this.#header));
  }

  /** Whether the whole of such a document is needed. */
  get #isKept(): boolean {
    return this.#part === "header" || (this.#part === "prelude" && this.#prelude !== null);
  }

  #open(header: Buffer): "block" | "last" | "broken" {
    const named = headerOf(header);
    if (named === null) return "broken";
    const name = JSON.stringify([named.database, named.collection]);
    const collection = this.#collections.get(name) ?? new Collection(named.database, named.collection);
    if (collection.isComplete || this.#collections.size >= MAX_COLLECTIONS) return "broken";
    this.#collections.set(name, collection);
    this.#current = collection;
    collection.isComplete = named.isLast;
    return named.isLast ? "last" : "block";
  }
}

class Collection {
  readonly #database: string;
  readonly #collection: string;
  readonly #sum = new DigestSum();
  readonly #inOrder = createHash("sha256");
  #documents = 0;
  #bytes = 0n;
  isComplete = false;

  constructor(database: string, collection: string) {
    this.#database = database;
    this.#collection = collection;
  }

  /**
   * The sum does not depend on the order of the documents, because a server may return them in
   * another one, unless the collection is capped.
   */
  add(digest: Buffer): void {
    this.#sum.add(digest);
    this.#inOrder.update(digest);
    this.#documents += 1;
  }

  bytesToCome(number: number): void {
    this.#bytes += BigInt(number);
  }

  content(): CollectionContent {
    return {
      database: this.#database,
      collection: this.#collection,
      documents: BigInt(this.#documents),
      bytes: this.#bytes,
      sum: this.#sum.hex(),
      inOrder: this.#inOrder.copy().digest("hex"),
    };
  }
}

function headerOf(
  bytes: Buffer,
): { readonly database: string; readonly collection: string; readonly isLast: boolean } | null {
  try {
    const { db, collection, EOF: isLast } = BSON.deserialize(bytes);
    return typeof db === "string" && typeof collection === "string" && typeof isLast === "boolean"
      ? { database: db, collection, isLast }
      : null;
  } catch {
    return null;
  }
}

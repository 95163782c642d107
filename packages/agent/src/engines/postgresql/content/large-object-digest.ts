import { createHash, hash } from "node:crypto";

/**
 * Large objects are hashed in pieces of this size, because each `lowrite` in pg_restore's SQL has
 * as many bytes.
 */
export const PIECE_BYTES = 16_384;

const OPEN = /^SELECT pg_catalog\.lo_open\('([0-9]{1,10})', [0-9]+\);\n$/;
const WRITE = /^SELECT pg_catalog\.lowrite\(0, '\\{1,2}x([0-9a-f]*)'\);\n$/;
const CLOSE = /^SELECT pg_catalog\.lo_close\(0\);\n$/;

/**
 * The start and end of a `lowrite`. It is long, so its end is found without looking at the rest.
 */
export const WRITE_START = "SELECT pg_catalog.lowrite(0, '";
export const WRITE_END = Buffer.from("');\n");

/**
 * Hashes the large objects of a dump in pg_restore's SQL. Each object has one line: its oid, a
 * space and the hex SHA-256 over the SHA-256s of its pieces. A server can compute the same without
 * having a whole object in memory.
 */
export class LargeObjectDigest {
  readonly #lines = createHash("sha256");
  #open: { readonly oid: number; readonly pieces: ReturnType<typeof createHash>; isFull: boolean } | null =
    null;
  #last = -1;
  #isUnderstood = true;

  /** Call this for each statement that opens, writes or closes an object, in the dump's order. */
  add(statement: string): void {
    this.#isUnderstood &&= this.#take(statement);
  }

  /** SHA-256 in hex of the lines; null if the dump contains something else, or another order. */
  end(): string | null {
    return this.#isUnderstood && this.#open === null ? this.#lines.digest("hex") : null;
  }

  #take(statement: string): boolean {
    const oid = OPEN.exec(statement)?.[1];
    if (oid !== undefined) {
      if (this.#open !== null || Number(oid) <= this.#last) return false;
      this.#last = Number(oid);
      this.#open = { oid: this.#last, pieces: createHash("sha256"), isFull: true };
      return true;
    }
    if (this.#open === null) return false;
    const bytes = WRITE.exec(statement)?.[1];
    if (bytes !== undefined) {
      const piece = Buffer.from(bytes, "hex");
      // Only the last piece may be shorter.
      if (!this.#open.isFull || piece.length > PIECE_BYTES || piece.length * 2 !== bytes.length) return false;
      this.#open.isFull = piece.length === PIECE_BYTES;
      this.#open.pieces.update(hash("sha256", piece, "buffer"));
      return true;
    }
    if (!CLOSE.test(statement)) return false;
    this.#lines.update(`${this.#open.oid} ${this.#open.pieces.digest("hex")}\n`);
    this.#open = null;
    return true;
  }
}

const pieceOf = (offset: string): string =>
  `(select lo_get(o.oid, ${offset} * ${PIECE_BYTES}, ${PIECE_BYTES}) as bytes offset 0) piece`;

/**
 * Computes the same lines in a database. Only a superuser may look up the size of an object, so
 * this ends at the first piece that is not full.
 */
export const LARGE_OBJECT_LINES = `
  select o.oid || ' ' || encode(sha256(coalesce((
    with recursive pieces(number, length, sha256) as (
      select 0::bigint, length(bytes), sha256(bytes) from ${pieceOf("0")}
      union all
      select number + 1, length(bytes), sha256(bytes) from pieces, lateral ${pieceOf("(number + 1)")} where length = ${PIECE_BYTES}
    )
    select string_agg(sha256, ''::bytea order by number) from pieces where length > 0
  ), ''::bytea)), 'hex')
  from pg_largeobject_metadata o order by o.oid`;

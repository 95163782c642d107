import { createHash, hash } from "node:crypto";

/** What a large object is cut into: pg_restore's SQL has so many bytes in each `lowrite`. */
export const PIECE_BYTES = 16_384;

const OPEN = /^SELECT pg_catalog\.lo_open\('([0-9]{1,10})', [0-9]+\);\n$/;
const WRITE = /^SELECT pg_catalog\.lowrite\(0, '\\{1,2}x([0-9a-f]*)'\);\n$/;
const CLOSE = /^SELECT pg_catalog\.lo_close\(0\);\n$/;

/** How a large object's `lowrite` begins and ends: it is long, and needs no other look for its end. */
export const WRITE_START = "SELECT pg_catalog.lowrite(0, '";
export const WRITE_END = Buffer.from("');\n");

/**
 * Hashes the large objects of a dump, from pg_restore's SQL: for each of them a line with its oid, a
 * space and the hex SHA-256 over the SHA-256s of its pieces. So a server can compute the same
 * without a whole object in its memory.
 */
export class LargeObjectDigest {
  readonly #lines = createHash("sha256");
  #open: { readonly oid: number; readonly pieces: ReturnType<typeof createHash>; isFull: boolean } | null =
    null;
  #last = -1;
  #isUnderstood = true;

  /** Takes each statement that opens, writes or closes one, in the dump's order. */
  add(statement: string): void {
    this.#isUnderstood &&= this.#take(statement);
  }

  /** SHA-256 in hex of the lines; null if the dump has something else, or another order. */
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
      // Only the last may be shorter.
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
 * The same lines, of the large objects that a database has. Only a superuser may look up how long
 * one is: it ends where a piece is not full.
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

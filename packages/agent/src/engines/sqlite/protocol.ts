import type { SqliteContent } from "./content/row-digests.ts";

export type Request =
  | { readonly op: "version" }
  /** A consistent copy of a live database. */
  | {
      readonly op: "copy";
      readonly path: string;
      readonly target: string;
      /** How long what it holds may be read for digests; 0 if nobody wants them. */
      readonly contentBudget_ms: number;
    }
  /** What a copy holds. */
  | { readonly op: "content"; readonly path: string; readonly budget_ms: number }
  /** Has SQLite undo the half transaction of a copy whose journal lies beside it. */
  | { readonly op: "roll back"; readonly path: string }
  /** A statement of ours; `rows` are JSON arrays of texts. */
  | { readonly op: "list"; readonly path: string; readonly sql: string }
  /** A check's query; `rows` are JSON objects, at most two. */
  | { readonly op: "query"; readonly path: string; readonly sql: string }
  /** The same query on the ruined copy, which is afterwards as it was. */
  | { readonly op: "ruin"; readonly path: string; readonly sql: string };

/** What the query gave (`rows`), its own error, or why that is not known (`reason`). */
export type RuinedCopy =
  | { readonly how: string; readonly rows: readonly string[] }
  | { readonly how: string; readonly error: string }
  | { readonly how: string; readonly reason: string };

export type Response =
  | {
      readonly ok: true;
      readonly rows?: readonly string[];
      readonly readsData?: boolean;
      readonly ruined?: readonly RuinedCopy[];
      readonly content?: SqliteContent;
    }
  /** `code` is SQLite's extended result code, -1 if it was not SQLite. */
  | { readonly ok: false; readonly code: number; readonly message: string };

/**
 * Of SQLite's primary result codes those that speak of the place, not of the data or the query.
 * What is none of SQLite's, such as a text that is too long for us, comes of the data.
 */
const PLACE: ReadonlySet<number> = new Set([7 /* NOMEM */, 10 /* IOERR */, 13 /* FULL */, 14 /* CANTOPEN */]);
const FULL = 13;

export function isOfThePlace(code: number): boolean {
  return code !== -1 && PLACE.has(code & 0xff);
}

export function isFull(code: number): boolean {
  return code !== -1 && (code & 0xff) === FULL;
}

/**
 * What an application adds to SQLite, and this host's SQLite does not have: nothing that a copy
 * could have lost.
 */
const LACKS = /^(?:no such collation sequence|unknown function|no such module): [^\n]{1,100}$/;

/** What was missing for a statement, in SQLite's words; null where nothing was. */
export function lackIn(response: Response | null): string | null {
  return response?.ok === false ? (LACKS.exec(response.message)?.[0] ?? null) : null;
}

/** The rows of a `list`. */
export function cells(response: Extract<Response, { ok: true }>): string[][] {
  return (response.rows ?? []).map((row) => JSON.parse(row) as string[]);
}

import type { ObjectsVersion } from "./content/objects.ts";
import type { SqliteContent } from "./content/row-digests.ts";
import type { SqliteProfile } from "./profile-tables.ts";

export type Request =
  | { readonly op: "version" }
  /** Makes a consistent copy of a live database. */
  | {
      readonly op: "copy";
      /** Or the URI of a database that nobody has open. */
      readonly path: string;
      readonly target: string;
      /** Milliseconds for reading the rows for digests; 0 if nobody wants them. */
      readonly contentBudget_ms: number;
    }
  /** Reads the content of a copy. */
  | {
      readonly op: "content";
      readonly path: string;
      readonly budget_ms: number;
      readonly objectsVersion: ObjectsVersion;
    }
  /** The profile of a copy's rows. */
  | { readonly op: "profile"; readonly path: string; readonly seed: number; readonly budget_ms: number }
  /** Has SQLite finish what a killed application left: the copy's journal or log is next to it. */
  | { readonly op: "recover"; readonly path: string }
  /** One of our own statements; `rows` are JSON arrays of texts. */
  | { readonly op: "list"; readonly path: string; readonly sql: string }
  /** A check's query; `rows` are JSON objects, at most two. */
  | { readonly op: "query"; readonly path: string; readonly sql: string }
  /** The same query on the ruined copy, which is unchanged afterwards. */
  | { readonly op: "ruin"; readonly path: string; readonly sql: string };

/** The query's result (`rows`), its own error, or why it is unknown (`reason`). */
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
      readonly profile?: SqliteProfile;
    }
  /** `code` is SQLite's extended result code, or -1 if the error was not SQLite's. */
  | { readonly ok: false; readonly code: number; readonly message: string };

/**
 * Runs one of our own statements on the restored copy.
 * @throws RunError if the place failed.
 */
export type Ask = (sql: string) => Promise<Response | null>;

/**
 * SQLite's primary result codes that concern the place, not the data or the query. An error that is
 * not SQLite's, such as a text that is too long for us, comes from the data.
 */
const PLACE: ReadonlySet<number> = new Set([7 /* NOMEM */, 10 /* IOERR */, 13 /* FULL */, 14 /* CANTOPEN */]);
const FULL = 13;

export function isOfThePlace(code: number): boolean {
  return code !== -1 && PLACE.has(code & 0xff);
}

export function isFull(code: number): boolean {
  return code !== -1 && (code & 0xff) === FULL;
}

/** What an application adds to SQLite and this host's SQLite lacks. A copy can't have lost it. */
const LACKS =
  /^(?:no such collation sequence|unknown function|no such module|no such tokenizer|unknown tokenizer): [^\n]{1,100}$/;

/** What a statement needed and SQLite lacks, in SQLite's words; null if nothing. */
export function lackIn(response: Response | null): string | null {
  return response?.ok === false ? (LACKS.exec(response.message)?.[0] ?? null) : null;
}

/** The rows of a `list`. */
export function cells(response: Extract<Response, { ok: true }>): string[][] {
  return (response.rows ?? []).map((row) => JSON.parse(row) as string[]);
}

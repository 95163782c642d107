import { firstIdAt, isId, type IdKind, MAX_PAGE_BYTES } from "@attestore/contract";
import { type TObject, type TProperties, type TSchema, Type } from "@fastify/type-provider-typebox";
import { invalidRequest } from "../../errors/api-error.ts";
import { ALWAYS, type Period } from "./principal.ts";

const DEFAULT_LIMIT = 50;
/** Sorts after every id. */
const AFTER_ALL = "~";

const paging = {
  limit: Type.Optional(
    Type.String({
      pattern: "^([1-9]\\d?|1\\d\\d|200)$",
      description: "1 to 200; default: 50.",
      examples: ["50"],
    }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 100, description: "`next_cursor` of the previous page." })),
};

/** The query of a list (contract, section 4): paging, and the filters that the record has. */
export function listQuery<Filters extends TProperties>(filters: Filters): TObject<typeof paging & Filters> {
  return Type.Object({ ...paging, ...filters }, { additionalProperties: false });
}

/** The filters for a time: from the first, inclusive, to the second, exclusive; RFC 3339. */
export const period = {
  from: Type.Optional(Type.String({ maxLength: 40, description: "RFC 3339; from this time on." })),
  to: Type.Optional(Type.String({ maxLength: 40, description: "RFC 3339; before this time." })),
};

/** The answer of a list, newest first. */
export function listOf<Item extends TSchema>(item: Item) {
  return Type.Object(
    { items: Type.Array(item), next_cursor: Type.Union([Type.String(), Type.Null()]) },
    { additionalProperties: false },
  );
}

export interface Page {
  limit: number;
  /** Only records whose id sorts before it. */
  before: string | null;
}

/** Throws `invalid_request` for a cursor that no page of this kind of record returned. */
export function pageOf(kind: IdKind, query: { limit?: string; cursor?: string }): Page {
  const limit = query.limit === undefined ? DEFAULT_LIMIT : Number(query.limit);
  if (query.cursor === undefined) return { limit, before: null };
  const before = /^[A-Za-z0-9_-]+$/.test(query.cursor)
    ? Buffer.from(query.cursor, "base64url").toString("latin1")
    : "";
  if (!isId(kind, before))
    throw invalidRequest("The cursor does not belong to this list.", [
      { path: "/cursor", message: "is not a next_cursor of this list" },
    ]);
  return { limit, before };
}

/**
 * The ids of a page and a period as one range that includes its lower end. For records whose id was
 * made at `created_at`: one index on the id then serves order, cursor and period.
 */
export function idRange(kind: IdKind, page: Page, { from, to }: Period): { from: string; before: string } {
  const end = to === null ? AFTER_ALL : firstIdAt(kind, to.getTime());
  const { before } = page;
  return {
    from: from === null ? "" : firstIdAt(kind, from.getTime()),
    before: before === null || end < before ? end : before,
  };
}

/**
 * One page of rows, of which one more than the limit was asked for. It ends at the limit or after
 * MAX_PAGE_BYTES of JSON, whichever comes first, and has at least one item. `hasMore` says that not
 * all rows within the limit were read.
 */
export function paged<Row extends { id: string }, Item>(
  rows: readonly Row[],
  { limit }: Page,
  present: (row: Row) => Item,
  hasMore = false,
): { items: Item[]; next_cursor: string | null } {
  const items: Item[] = [];
  let bytes = 0;
  for (const row of rows.slice(0, limit)) {
    const item = present(row);
    bytes += JSON.stringify(item).length;
    if (bytes > MAX_PAGE_BYTES && items.length > 0) break;
    items.push(item);
  }
  const last = rows[items.length - 1];
  const isLast = items.length === rows.length && !hasMore;
  return { items, next_cursor: isLast || last === undefined ? null : cursorOf(last.id) };
}

/** The `next_cursor` of a page whose last record has this id. */
export function cursorOf(id: string): string {
  return Buffer.from(id, "latin1").toString("base64url");
}

/**
 * The ids of as many rows, in their order, as come to `bytes`, but at least one: this bounds large
 * columns before they are read.
 */
export function idsWithin(
  rows: readonly { id: string; bytes: number }[],
  bytes = MAX_PAGE_BYTES,
): { ids: string[]; isCut: boolean } {
  let total = 0;
  const end = rows.findIndex((row, index) => (total += row.bytes) > bytes && index > 0);
  const fitting = end === -1 ? rows : rows.slice(0, end);
  return { ids: fitting.map(({ id }) => id), isCut: end !== -1 };
}

const MOMENT =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/**
 * The period that a query asks for, limited to the caller's. Throws `invalid_request` for text that
 * is not a moment (RFC 3339 section 5.6), or a period that ends before it begins.
 */
export function periodOf(query: { from?: string; to?: string }, within: Period = ALWAYS): Period {
  const from = momentOf("/from", query.from);
  const to = momentOf("/to", query.to);
  if (from !== null && to !== null && to < from)
    throw invalidRequest("The period ends before it begins.", [{ path: "/to", message: "is before from" }]);
  return {
    from: from === null || (within.from !== null && within.from > from) ? within.from : from,
    to: to === null || (within.to !== null && within.to < to) ? within.to : to,
  };
}

/** For lasting records, such as agents: everything that existed before the period's end. */
export function knownUntil({ to }: Period): Period {
  return { from: null, to };
}

/** Whether the caller may see a record of this time. */
export function isWithin({ from, to }: Period, at: Date): boolean {
  return (from === null || at >= from) && (to === null || at < to);
}

function momentOf(path: string, text: string | undefined): Date | null {
  if (text === undefined) return null;
  const moment = MOMENT.test(text) ? new Date(text) : new Date(Number.NaN);
  // An offset can lead out of the years with four digits, and PostgreSQL has no year 0.
  const utcYear = moment.getUTCFullYear();
  // A day that the month does not have would roll over into the next month.
  const day = Number(text.slice(8, 10));
  const month = Number(text.slice(5, 7));
  const year = Number(text.slice(0, 4));
  const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
  if (!(utcYear >= 1 && utcYear <= 9999) || day > lastDay)
    throw invalidRequest("A timestamp in the query is not valid.", [
      { path, message: "is not an RFC 3339 timestamp such as 2026-11-01T00:00:00Z" },
    ]);
  return moment;
}

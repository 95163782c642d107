import { clip } from "./clip.ts";

/**
 * Built-in checks have a colon in their ids, which a configured check's id cannot have, so the two
 * are never confused. Each has a file of its own in built-in/: `inferred:kept` is in kept-check.ts.
 */
const INFERRED = "inferred:";
const MAX_NAME = 200;

export function isInferred(id: string): boolean {
  return id.startsWith(INFERRED);
}

/** `inferred:content`, or `inferred:content:shop` for one of several databases. */
export function inferredId(check: string, of?: string): string {
  return `${INFERRED}${check}${of === undefined ? "" : `:${clip(of, MAX_NAME)}`}`;
}

/** The check of a table's rows. */
export function rowCheckId(table: string): string {
  return inferredId("rows", table);
}

const ROWS = rowCheckId("");

/** The table, in the form of ids, whose rows a check counts; null for every other check. */
export function tableOfRowCheck(id: string): string | null {
  return id.startsWith(ROWS) ? id.slice(ROWS.length) : null;
}

/** A table's name in the form of ids. */
export function nameInId(table: string): string {
  return clip(table, MAX_NAME);
}

import { MalformedSet } from "./tar.ts";

/**
 * An entry of a set, by its name. The archive has the globals first, if there are any, and then the
 * databases in their order:
 *
 *     globals.sql
 *     001-orders/dump.000000      a custom-format dump, cut into parts: `cat` puts them together
 *     001-orders/dump.000001
 *     002-billing/toc.dat         or the files of a directory-format dump
 *     002-billing/3021.dat
 */
export type SetEntry =
  | { readonly kind: "globals" }
  | { readonly kind: "part"; readonly directory: string; readonly database: number; readonly part: number }
  | { readonly kind: "file"; readonly directory: string; readonly database: number; readonly file: string };

export const GLOBALS = "globals.sql";
/** The description of each database must fit into a receipt. */
export const MAX_DATABASES = 200;

/** `database` counts from 0. The name in the path is for people. */
export function directoryName(database: number, name: string): string {
  const readable = name.replaceAll(/[^A-Za-z0-9_]/g, "_").slice(0, 40);
  return `${String(database + 1).padStart(3, "0")}-${readable}`;
}

export function partName(directory: string, part: number): string {
  return `${directory}/dump.${String(part).padStart(6, "0")}`;
}

/** The files that pg_dump makes in a directory: tables, large objects, and their lists. */
const FILE = /^(?:toc\.dat|[0-9]{1,10}\.dat|blobs?(?:_[0-9]{1,10})?\.toc|blob_[0-9]{1,10}\.dat)$/;

export function isDumpFile(name: string): boolean {
  return FILE.test(name);
}

/**
 * @throws MalformedSet for all other names. So no part of a received name gets into a path unless
 * it matches.
 */
export function parseEntryName(name: string): SetEntry {
  if (name === GLOBALS) return { kind: "globals" };
  const [, directory = "", number = "", last = ""] =
    /^(([0-9]{3})-[A-Za-z0-9_]{0,40})\/([a-z0-9_.]{1,30})$/.exec(name) ?? [];
  const database = Number(number) - 1;
  const part = /^dump\.([0-9]{6})$/.exec(last)?.[1];
  if (directory === "" || database < 0) throw new MalformedSet("an entry has an unexpected name");
  if (part !== undefined) return { kind: "part", directory, database, part: Number(part) };
  if (isDumpFile(last)) return { kind: "file", directory, database, file: last };
  throw new MalformedSet("an entry has an unexpected name");
}

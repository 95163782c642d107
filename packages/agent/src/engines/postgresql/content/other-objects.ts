import { createHash } from "node:crypto";
import { OBJECT_NAMES } from "./objects.ts";
import { MAX_SUMMARY_BYTES, type SchemaSummary } from "../../schema.ts";
import { COUNT_GRANTS, grantsIn } from "../privileges/count-grants.ts";
import type { PsqlSession } from "../connection/psql-session.ts";
import { rowsOf } from "../schema.ts";

/**
 * Signed in a backup's metadata, so that the next backup shows what the source lost: what the
 * schema hash does not have. It has names and numbers only, because definitions may hold secrets.
 */
export interface OtherObjects {
  /** Over all of these, in hex. */
  readonly sha256: string;
  /** How many there are of each kind; `grant` counts rights, which have no names. */
  readonly kinds: Readonly<Record<string, number>>;
  /** As many as fit, those of the smallest kinds first, sorted by name. */
  readonly named: readonly Named[];
}

type Named = readonly [kind: string, name: string];

const MAX_BYTES = 12 * 1024;
const MAX_NAME = 200;
const GRANT = "grant";
/** Otherwise a source with very many objects would wait for its dump. */
const LISTING_MS = 10_000;

/**
 * Lists them in the open transaction, which stays open; null if the server does not in time: a dump
 * must not fail for that.
 */
export async function listOtherObjects(
  session: PsqlSession,
  summary: SchemaSummary,
): Promise<OtherObjects | null> {
  await session.run("savepoint others");
  await session.run(`set local statement_timeout = ${LISTING_MS}`);
  const names = await session.run(OBJECT_NAMES);
  const grants = names.ok ? await session.run(COUNT_GRANTS) : names;
  await session.run("rollback to savepoint others");
  if (!names.ok || !grants.ok) return null;
  const objects = rowsOf(names.output).map(([kind = "", name = ""]): Named => [kind, name]);
  return describeOthers(objects, grantsIn(grants.output), summary);
}

/** The names get the room that the schema's summary leaves. */
export function describeOthers(
  objects: readonly Named[],
  grants: number,
  summary: SchemaSummary,
): OtherObjects {
  const kinds = new Map<string, number>();
  for (const [kind] of objects) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  if (grants > 0) kinds.set(GRANT, grants);
  const lines = [...objects, [GRANT, String(grants)]].map((each) => JSON.stringify(each)).toSorted();
  return {
    sha256: createHash("sha256").update(lines.join("\n")).digest("hex"),
    kinds: Object.fromEntries([...kinds].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    named: fitting(objects, kinds, roomBeside(summary)),
  };
}

/** Those of several databases, whose names `nameIn` changes; null if one is not known. */
export function joinOthers(
  databases: readonly { readonly name: string; readonly others: OtherObjects | undefined }[],
  nameIn: (database: string, name: string) => string,
  summary: SchemaSummary,
): OtherObjects | null {
  const kinds = new Map<string, number>();
  const objects: Named[] = [];
  const lines: string[] = [];
  for (const { name, others } of databases) {
    if (others === undefined) return null;
    for (const [kind, count] of Object.entries(others.kinds)) kinds.set(kind, (kinds.get(kind) ?? 0) + count);
    for (const [kind, own] of others.named) objects.push([kind, nameIn(name, own)]);
    lines.push(JSON.stringify([name, others.sha256]));
  }
  return {
    sha256: createHash("sha256").update(lines.toSorted().join("\n")).digest("hex"),
    kinds: Object.fromEntries([...kinds].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    named: fitting(objects, kinds, roomBeside(summary)),
  };
}

function roomBeside(summary: SchemaSummary): number {
  return Math.min(MAX_BYTES, MAX_SUMMARY_BYTES - Buffer.byteLength(JSON.stringify(summary)));
}

/**
 * A reader knows by the number whether all of a kind are named, so a kind of thousands does not
 * take the room of the few triggers.
 */
function fitting(objects: readonly Named[], kinds: ReadonlyMap<string, number>, bytes: number): Named[] {
  const sizeOf = ([kind]: Named): number => kinds.get(kind) ?? 0;
  let room = bytes;
  return objects
    .toSorted((a, b) => sizeOf(a) - sizeOf(b) || compare(a[0], b[0]) || compare(a[1], b[1]))
    .filter((each) => {
      if (each[1].length > MAX_NAME || room < 0) return false;
      room -= Buffer.byteLength(JSON.stringify(each)) + 1;
      return room >= 0;
    });
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

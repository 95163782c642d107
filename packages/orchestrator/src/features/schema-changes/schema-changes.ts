import { hash } from "node:crypto";
import type { SchemaChanges } from "./changes.ts";
import { otherChanges } from "./other-objects.ts";

/** Limits for each list, and for the characters of all three together. */
const MAX_NAMES = 1000;
const MAX_SHOWN = 32 * 1024;
/** A longer name is cut, and ends in a digest of the whole. Names from agents are shorter. */
const MAX_NAME = 400;

interface Summary {
  /**
   * `table orders`, and `table orders column total` → the object that it belongs to, and its
   * definition.
   */
  names: Map<string, { object: string; definition: string }>;
  objects: Set<string>;
  /** Whether there was no room for all objects: one that is not named may exist all the same. */
  isCut: boolean;
}

/** What an agent's engine sent with a backup. */
export interface SentSchema {
  summary: unknown;
  /** See `otherChanges`. */
  others?: unknown;
}

/**
 * Compares what an agent's engine sent as `schema_summary` with two backups: `{objects: [{kind,
 * name, definition?, parts?: {name: definition}}], omitted}`. Null if one of the two is missing or
 * has another form: agents may add anything to their metadata.
 */
export function schemaChanges(before: SentSchema, after: SentSchema): SchemaChanges | null {
  const [old, now] = [readSummary(before.summary), readSummary(after.summary)];
  if (old === null || now === null) return null;
  const others = otherChanges(before.others, after.others);
  const altered = [...now.names].flatMap(([name, { definition }]) => {
    const known = old.names.get(name);
    return known === undefined || known.definition === definition ? [] : [name];
  });
  let room = MAX_SHOWN;
  const listed = (names: string[]): string[] =>
    names
      .toSorted()
      .slice(0, MAX_NAMES)
      .filter((name) => (room -= name.length) >= 0);
  return {
    added: listed([...namesOnlyIn(now, old), ...(others?.added ?? []).map(short)]),
    removed: listed([...namesOnlyIn(old, now), ...(others?.removed ?? []).map(short)]),
    altered: listed([...altered, ...(others?.altered ?? [])]),
  };
}

/** If the other summary had no room for an object, nobody knows whether it is only here. */
function namesOnlyIn(here: Summary, there: Summary): string[] {
  return [...here.names].flatMap(([name, { object }]) =>
    there.names.has(name) || (there.isCut && !there.objects.has(object)) ? [] : [name],
  );
}

function readSummary(value: unknown): Summary | null {
  if (!isRecord(value) || !Array.isArray(value["objects"])) return null;
  const summary: Summary = { names: new Map(), objects: new Set(), isCut: value["omitted"] !== 0 };
  for (const object of value["objects"] as unknown[]) {
    if (!isRecord(object)) return null;
    const { kind, name, definition, parts } = object;
    if (typeof kind !== "string" || typeof name !== "string") return null;
    const title = short(`${kind} ${name}`);
    summary.objects.add(title);
    summary.names.set(title, { object: title, definition: textOf(definition) });
    if (!isRecord(parts)) continue;
    for (const [part, text] of Object.entries(parts))
      summary.names.set(`${title} ${short(part)}`, { object: title, definition: textOf(text) });
  }
  return summary;
}

/**
 * Each part of an object repeats its object's name: together they would be far larger than the
 * summary that was sent.
 */
function short(name: string): string {
  if (name.length <= MAX_NAME) return name;
  return `${name.slice(0, MAX_NAME - 20).toWellFormed()}… ${hash("sha256", name).slice(0, 16)}`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return JSON.stringify(value) ?? "";
}

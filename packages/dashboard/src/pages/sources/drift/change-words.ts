import { sourceText } from "../../../text/sources.ts";
import type { Drift } from "../queries.ts";

const text = sourceText.drift;
/** Longer values, such as digests, say nothing in a sentence. */
const SHORT = 32;

/** `Schema: 1 added, 2 altered`, `Engine version: 15.3 → 15.4`, or only what changed. */
export function changeWords({ field, before, after, changes }: Drift): string {
  const name = text.fields[field] ?? field;
  const counts =
    changes === undefined
      ? ""
      : text.counts(changes.added.length, changes.removed.length, changes.altered.length);
  if (counts !== "") return `${name}: ${counts}`;
  const areShort = [before, after].every((value) => typeof value === "string" && value.length <= SHORT);
  return areShort ? `${name}: ${String(before)} → ${String(after)}` : name;
}

/** Of `kind name`: the kind in words, and the name as it is. */
export function objectWords(object: string): string {
  return object.replace(/^\w+/, (kind) => kind.replaceAll("_", " "));
}

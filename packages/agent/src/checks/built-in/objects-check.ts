import type { CheckOutcome } from "@attestore/proof";
import { clip } from "../clip.ts";
import { evaluateCheck } from "../evaluation/evaluate-check.ts";
import { quoteText } from "../expectation/expression.ts";
import { formatRow, namesCells } from "../values/format-row.ts";
import { LESS_EXACTLY } from "./digest-check.ts";
import { inferredId } from "../inferred-id.ts";

/** Objects that are compared with each other, apart from the rest. */
export type ObjectsGroup = "objects" | "privileges" | "unrestored" | "globals";

/** The result for the objects that a backup has digests of. */
export interface ComparedObjects {
  /** The database, if there are several. */
  readonly of?: string;
  /** How many the backup has. */
  readonly objects: number;
  /** How many the restored copy has. */
  readonly found: number;
  /** Those that are missing, different or extra: kind, name and which of these. */
  readonly differing: readonly string[];
  /** Those that are not compared, with their kind. */
  readonly notCompared?: readonly string[];
  /** Objects that the sandbox could not compare, or that differ there by themselves. */
  readonly notLookedAt?: readonly string[];
  /** Over all in the restored copy. */
  readonly sha256: string;
  /** The same, as the backup signed it. */
  readonly signedSha256: string;
  readonly duration_ms: number;
  readonly words: ObjectsWords;
  /** False if definitions are compared without a part of them; true if absent. */
  readonly isExact?: boolean;
  /** For the check's id; `objects` if absent. */
  readonly what?: ObjectsGroup;
}

/** The differences from engine to engine. */
export interface ObjectsWords {
  /** For the check's definition. */
  readonly query: string;
  /** Where to look. */
  readonly hint: string;
  /**
   * If the objects are compared with another program's dump, and not with a source: the receipt has
   * `compared_with: dump`.
   */
  readonly isOfDump?: true;
}

const MAX_NAMES = 400;

/**
 * Indexes, triggers, functions and everything else in a database besides rows came back as they
 * were.
 */
export function objectsCheck(compared: ComparedObjects): CheckOutcome {
  const {
    of,
    objects,
    found,
    differing,
    notCompared = [],
    notLookedAt = [],
    sha256,
    signedSha256,
    duration_ms,
    words,
    isExact = true,
    what = "objects",
  } = compared;
  const row = formatRow([
    ["objects", objects],
    ["found", found],
    ["differing", differing.length],
    ["sha256", sha256],
    ["signed_sha256", signedSha256],
    ...(words.isOfDump === true ? [["compared_with", "dump"] as const] : []),
    ...(isExact ? [] : [["less_exactly", LESS_EXACTLY] as const]),
    ...(differing.length === 0
      ? []
      : [["differing_objects", clip(differing.join(", "), MAX_NAMES)] as const]),
    ...namesCells("not_compared", "not_compared_objects", notCompared, MAX_NAMES),
    ...namesCells("not_looked_at", "not_looked_at_objects", notLookedAt, MAX_NAMES),
  ]);
  const outcome = evaluateCheck(
    {
      id: inferredId(what, of),
      query: words.query,
      expect: `differing = 0 and sha256 = ${quoteText(signedSha256)}`,
    },
    { kind: "rows", rows: [row] },
    duration_ms,
  );
  const [first] = differing;
  if (first === undefined) return outcome;
  const more = differing.length > 1 ? ` and ${differing.length - 1} more` : "";
  const named = `${clip(first, 160)}${more}`;
  const error =
    words.isOfDump === true
      ? `the restored copy lacks objects that the dump declares: ${named}. Keep the dump, make another and test that one; if it lacks it too, ${words.hint}`
      : `the restored copy is not like the source: ${named}. Keep this backup, make another and test that one; if it differs too, ${words.hint}`;
  return { ...outcome, observed: { ...outcome.observed, error } };
}

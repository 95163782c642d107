import type { CheckOutcome } from "@attestore/proof";
import { clip } from "../clip.ts";
import { evaluateCheck } from "../evaluation/evaluate-check.ts";
import { quoteText } from "../expectation/expression.ts";
import { formatRow } from "../values/format-row.ts";
import { inferredId } from "../inferred-id.ts";

/**
 * The result for the tables that a backup has digests of, and for content that it has no digest of.
 */
export interface ComparedContent {
  /** The database, if there are several. */
  readonly of?: string;
  /** How the engine reads rows, for the check's definition. */
  readonly query: string;
  /** Tables that were compared. */
  readonly tables: number;
  /** The compared tables whose content differs, by name. */
  readonly differing: readonly string[];
  /** Names that were not compared, and how many in all. */
  readonly notCompared: { readonly names: readonly string[]; readonly count: number };
  /**
   * One digest over the compared content: as the backup signed it, and as it was read from the
   * copy.
   */
  readonly expectedSha256: string;
  readonly sha256: string;
  /** Over everything that the backup signed. */
  readonly signedSha256: string;
  readonly duration_ms: number;
  /** What else a table may have that no restore keeps, in the engine's words. */
  readonly unkept?: string;
}

const MAX_NAMES = 200;

/**
 * The restored content equals the backed-up one. Compared content must not differ; content that was
 * not compared is named.
 */
export function contentCheck(compared: ComparedContent): CheckOutcome {
  const {
    of,
    query,
    tables,
    differing,
    notCompared,
    expectedSha256,
    sha256,
    signedSha256,
    duration_ms,
    unkept,
  } = compared;
  const names = (all: readonly string[]): string => clip(all.join(", "), MAX_NAMES);
  const row = formatRow([
    ["tables", tables],
    ["differing", differing.length],
    ["not_compared", notCompared.count],
    ["sha256", sha256],
    ["signed_sha256", signedSha256],
    ...(differing.length === 0 ? [] : [["differing_tables", names(differing)] as const]),
    ...(notCompared.names.length === 0 ? [] : [["not_compared_tables", names(notCompared.names)] as const]),
  ]);
  const outcome = evaluateCheck(
    {
      id: inferredId("content", of),
      query,
      expect: `differing = 0 and sha256 = ${quoteText(expectedSha256)}`,
    },
    { kind: "rows", rows: [row] },
    duration_ms,
  );
  const [first] = differing;
  if (first === undefined) return outcome;
  const more = differing.length > 1 ? `, and that of ${differing.length - 1} more too` : "";
  const error =
    `the content of ${clip(first, 120)} differs from the dump${more}: keep this backup, make another and test that one. ` +
    "If it differs too, look at this host's memory and disk, and at the table in a restored copy" +
    (unkept === undefined ? "" : `. No restore keeps ${unkept}`);
  return { ...outcome, observed: { ...outcome.observed, error } };
}

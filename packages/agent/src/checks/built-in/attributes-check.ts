import { createHash } from "node:crypto";
import type { CheckOutcome } from "@attestore/proof";
import { clip } from "../clip.ts";
import { evaluateCheck } from "../evaluation/evaluate-check.ts";
import { quoteText } from "../expectation/expression.ts";
import { formatRow } from "../values/format-row.ts";

/** The compared attributes of a tree, each kind with its count and tags. */
export interface ComparedAttributes {
  readonly compared: readonly (readonly [kind: string, count: number, is: string, shouldBe: string])[];
  /** Kinds that were not, and why. */
  readonly notCompared: readonly string[];
  readonly duration_ms: number;
}

const MAX_NAMES = 240;
const WORDS: Readonly<Record<string, string>> = {
  owners: "owners",
  times: "times",
  acls: "ACLs",
  xattrs: "extended attributes",
  outside_xattrs: "extended attributes outside of user.",
};

/** Times, owners, ACLs and extended attributes came back as they were archived. */
export function attributesCheck({ compared, notCompared, duration_ms }: ComparedAttributes): CheckOutcome {
  const differing = compared.filter(([, , is, shouldBe]) => is !== shouldBe);
  const names = differing.map(([kind]) => WORDS[kind] ?? kind).join(" and ");
  const row = formatRow([
    ...compared.map(([kind, count]) => [kind, count] as const),
    ["differing", differing.length],
    ["not_compared", notCompared.length],
    ["sha256", digestOf(compared.map(([kind, , is]) => [kind, is]))],
    ...(differing.length === 0 ? [] : [["differing_kinds", names] as const]),
    ["not_compared_kinds", clip(notCompared.join(", "), MAX_NAMES)],
  ]);
  const signed = digestOf(compared.map(([kind, , , shouldBe]) => [kind, shouldBe]));
  const outcome = evaluateCheck(
    {
      id: "inferred:attributes",
      query: "when each file was written, its owner, its ACLs and its extended attributes",
      expect: `differing = 0 and sha256 = ${quoteText(signed)}`,
    },
    { kind: "rows", rows: [row] },
    duration_ms,
  );
  if (differing.length === 0) return outcome;
  const error =
    `the ${names} of the restored files are not those that were archived: keep this backup, make another and test that one. ` +
    "If it fails too, restore it by hand and compare with the source";
  return { ...outcome, observed: { ...outcome.observed, error } };
}

function digestOf(tags: readonly (readonly [string, string])[]): string {
  return createHash("sha256").update(JSON.stringify(tags)).digest("hex");
}

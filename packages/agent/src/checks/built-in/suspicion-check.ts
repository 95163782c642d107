import { type CheckOutcome, type Profile, suspicionText } from "@attestore/proof";
import { clip } from "../clip.ts";
import { evaluateCheck } from "../evaluation/evaluate-check.ts";
import { formatRow } from "../values/format-row.ts";
import { nextStep } from "../earlier-tests/loss-texts.ts";

const MAX_TEXT = 120;

/** Fails if anything is suspicious compared with earlier tests. */
export function suspicionCheck({ tables, suspicious, files }: Profile, source: string): CheckOutcome {
  const row = formatRow([
    files === undefined ? ["tables", tables.length] : ["files", files.files],
    ["suspicious", suspicious.length],
  ]);
  const outcome = evaluateCheck(
    {
      id: "inferred:profile",
      query: "how many columns stand out from earlier restore tests",
      expect: "suspicious = 0",
    },
    { kind: "rows", rows: [row] },
    0,
  );
  const [first] = suspicious;
  if (first === undefined) return outcome;
  const more = suspicious.length > 1 ? `, and ${suspicious.length - 1} more` : "";
  const error = `suspicious: ${clip(suspicionText(first), MAX_TEXT)}${more}. ${nextStep([first.table], source)}`;
  return { ...outcome, observed: { ...outcome.observed, error } };
}

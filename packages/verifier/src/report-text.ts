import { plainLine, plural } from "@attestore/proof";
import type { styleText } from "node:util";
import { basisText } from "./basis.ts";
import { describe, hasFailed } from "./describe.ts";
import type { Answer, CheckedLine, Outcome, Verdict } from "./outcome.ts";

type Style = Parameters<typeof styleText>[0];
/** Colours a word, or returns it unchanged. */
export type Paint = (style: Style, text: string) => string;

const VERDICTS: Record<Verdict, [string, Style]> = {
  true: ["TRUE", "green"],
  false: ["FALSE", "red"],
  cannot_tell: ["CANNOT TELL", "yellow"],
};

const RESULTS: Record<CheckedLine["result"], [string, Style]> = {
  held: ["held", "green"],
  failed: ["FAILED", "red"],
  not_checked: ["not checked", "yellow"],
};

/**
 * Formats the answer for people, one paragraph for each receipt. Control characters from files are
 * escaped.
 */
export function reportText(answer: Answer, paint: Paint): string {
  const paragraphs = answer.outcomes.map((outcome) => paragraph(outcome, paint));
  return `${[...paragraphs, ...closing(answer, paint)].join("\n\n")}\n`;
}

/**
 * The verdict in colour.
 * @param isBad what was verified says that a restore failed: then also a true verdict is not green
 */
export function verdictText(verdict: Verdict, isBad: boolean, paint: Paint): string {
  const [word, style] = VERDICTS[verdict];
  return paint(verdict === "true" && isBad ? "bold" : style, word);
}

/** Whether what is said is that a restore test failed. */
export function isOfFailedTest({ statement }: Outcome): boolean {
  return statement !== null && hasFailed(statement);
}

function paragraph(outcome: Outcome, paint: Paint): string {
  const { receipt, verdict, statement, checks, error } = outcome;
  const isBad = isOfFailedTest(outcome);
  const lines = [`${verdictText(verdict, isBad, paint)}  ${plainLine(receipt)}`];
  if (error) lines.push(`  ${plainLine(error.message)}`);
  if (statement) {
    const [what = "", ...details] = describe(statement);
    lines.push(
      `  ${verdict === "true" ? "" : "what it claims: "}${what}`,
      ...details.map((detail) => `    ${detail}`),
    );
    if (verdict === "true" && isBad)
      lines.push(`  ${paint("red", "The receipt is true. It says that the restore test FAILED.")}`);
  }
  lines.push(...checks.map((check) => line(check, paint)));
  if (outcome.basis !== null) lines.push(...basisText(outcome.basis));
  return lines.join("\n");
}

export function line({ id, title, result, detail, hint }: CheckedLine, paint: Paint, width = 10): string {
  const [word, style] = RESULTS[result];
  const advice = hint === null ? "" : ` (${hint})`;
  return `  ${paint(style, word.padEnd(11))}  ${id.padEnd(width)}  ${title}: ${plainLine(detail)}${advice}`;
}

function closing({ verdict, expectPassed, outcomes }: Answer, paint: Paint): string[] {
  const lines: string[] = [];
  if (outcomes.length > 1) {
    const word = verdictText(verdict, outcomes.some(isOfFailedTest), paint);
    const count = (wanted: Verdict): number =>
      outcomes.filter((outcome) => outcome.verdict === wanted).length;
    lines.push(
      `${word}  ${plural(outcomes.length, "receipt")}: ${count("true")} true, ${count("false")} false, ${count("cannot_tell")} cannot tell`,
    );
  }
  if (expectPassed === "not_met")
    lines.push(paint("red", "NOT PASSED  a true receipt says that a restore test FAILED"));
  if (expectPassed === "cannot_tell")
    lines.push(paint("yellow", "CANNOT TELL  no true receipt given is for a restore test"));
  return lines;
}

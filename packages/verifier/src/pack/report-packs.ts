import { plainLine, plural } from "@attestore/proof";
import type { EvidenceSummary, RunCount } from "@attestore/proof";
import { basisText } from "../basis.ts";
import { exitCode, type Verdict } from "../outcome.ts";
import { line, type Paint, verdictText } from "../report-text.ts";
import { plainJson } from "../plain-json.ts";
import { type PacksAnswer, packsExpectation } from "./answer-of-packs.ts";

/** Formats the answer for programs. */
export function packsJson(answer: PacksAnswer): string {
  const packs = answer.outcomes.map(({ pack, verdict, manifest, summary, checks, basis, error }) => ({
    pack,
    verdict,
    org_id: manifest?.org_id ?? null,
    period: manifest?.period ?? null,
    exported_at: manifest?.exported_at ?? null,
    totals: summary?.totals ?? null,
    not_proven: summary?.not_proven ?? null,
    checks,
    basis,
    error,
  }));
  const { verdict, expectPassed, joined } = answer;
  const report = { verdict, exit_code: exitCode(answer), expect_passed: expectPassed, packs, joined };
  return `${plainJson(report)}\n`;
}

const WIDTH = 18;

/**
 * Formats the answer for people. Text from a pack is escaped, so that every character is visible.
 */
export function packsText(answer: PacksAnswer, paint: Paint): string {
  const paragraphs = answer.outcomes.map((outcome) => {
    const { pack, verdict, summary, checks, basis } = outcome;
    const isBad = packsExpectation([outcome]) === "not_met";
    return [
      `${verdictText(verdict, isBad, paint)}  ${plainLine(pack)}`,
      ...(summary === null ? [] : counted(summary, verdict)),
      ...checks.map((check) => line(check, paint, WIDTH)),
      ...(basis === null ? [] : basisText(basis)),
      ...(summary === null
        ? []
        : ["  not proven:", ...summary.not_proven.map((text) => `    - ${plainLine(text)}`)]),
    ].join("\n");
  });
  const together = answer.joined.map(({ org_id, packs, verdict, checks }) => {
    const ofThese = answer.outcomes.filter(({ pack }) => packs.includes(pack));
    const isBad = packsExpectation(ofThese) === "not_met";
    return [
      `${verdictText(verdict, isBad, paint)}  ${packs.length} packs of ${plainLine(org_id)} as one chain`,
      ...checks.map((check) => line(check, paint, WIDTH)),
    ].join("\n");
  });
  return `${[...paragraphs, ...together, ...closing(answer, paint)].join("\n\n")}\n`;
}

function counted({ org, period, totals, sources }: EvidenceSummary, verdict: Verdict): string[] {
  const { restore_tests, scheduled_restore_tests, scheduled_backups } = totals;
  return [
    `  ${verdict === "true" ? "" : "what it claims: "}${plainLine(org.name)} (${plainLine(org.id)}), ${period.from} to ${period.to}, ${plural(sources.length, "source")}`,
    `    scheduled restore tests: ${runs(scheduled_restore_tests, "passed")}`,
    `    scheduled backups: ${runs(scheduled_backups, "made")}`,
    `    all restore tests: ${restore_tests.passed} passed, ${restore_tests.failed} failed`,
  ];
}

function runs({ total, passed, failed, missed, waiting, withdrawn }: RunCount, done: string): string {
  return `${total}: ${passed} ${done}, ${failed} failed, ${missed} missed, ${waiting} still waiting, ${withdrawn} withdrawn`;
}

function closing({ expectPassed }: PacksAnswer, paint: Paint): string[] {
  if (expectPassed === "not_met") return [paint("red", "NOT PASSED  restore tests FAILED or were MISSED")];
  if (expectPassed === "cannot_tell") return [paint("yellow", "CANNOT TELL  no restore test passed")];
  return [];
}

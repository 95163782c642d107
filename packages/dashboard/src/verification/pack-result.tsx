import type { EvidenceSummary } from "@attestore/proof";
import { type PackOutcome, packsExpectation } from "@attestore/verifier/pack";
import { List, Stack, Text } from "@mantine/core";
import { FactList } from "../parts/facts/fact-list.tsx";
import { Section } from "../parts/layout/section.tsx";
import { verify as text } from "../text/verify.ts";
import { packs as packText } from "../text/verify-packs.ts";
import { visible } from "../text/visible.ts";
import { CheckList } from "./check-list.tsx";
import { PackBasis } from "./pack-basis.tsx";
import { VerdictBanner } from "./verdict-banner.tsx";

/** The verdict for one evidence pack, what it says, and every check behind it. */
export function PackResult({ outcome }: { outcome: PackOutcome }) {
  const { pack, verdict, summary, checks, basis } = outcome;
  const met = verdict === "true" ? packsExpectation([outcome]) : "met";
  return (
    <Section title={visible(pack, 100)}>
      <VerdictBanner verdict={verdict} isOfFailedTest={met !== "met"}>
        {text.explanation[verdict]}
      </VerdictBanner>
      {met !== "met" && (
        <Text fw={600} c={met === "not_met" ? "var(--status-failed)" : "dimmed"}>
          {met === "not_met" ? packText.trueNotMet : packText.trueNonePassed}
        </Text>
      )}
      {summary !== null && <PackFacts summary={summary} isTrue={verdict === "true"} />}
      <CheckList lines={checks} />
      {basis !== null && <PackBasis basis={basis} />}
      {summary !== null && (
        <Stack gap={4}>
          <Text fw={600}>{packText.notProven}</Text>
          <List size="sm">
            {summary.not_proven.map((each) => (
              <List.Item key={each}>{visible(each, 2000)}</List.Item>
            ))}
          </List>
        </Stack>
      )}
    </Section>
  );
}

function PackFacts({ summary, isTrue }: { summary: EvidenceSummary; isTrue: boolean }) {
  const { org, period, totals, sources } = summary;
  const { facts } = packText;
  return (
    <>
      {!isTrue && <Text fw={600}>{text.explanation.claims}</Text>}
      <FactList
        facts={[
          [facts.org, `${visible(org.name, 200)} (${visible(org.id, 100)})`],
          [facts.period, packText.period(period.from, period.to)],
          [facts.sources, sources.length],
          [facts.tests, packText.tests(totals.restore_tests.passed, totals.restore_tests.failed)],
          [facts.scheduled, packText.runs(totals.scheduled_restore_tests, packText.done.tests)],
          [facts.backups, packText.runs(totals.scheduled_backups, packText.done.backups)],
        ]}
      />
    </>
  );
}

import { Stack } from "@mantine/core";
import { useEffect, useState } from "react";
import { PageSkeleton } from "../../parts/feedback/page-skeleton.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { verify as text } from "../../text/verify.ts";
import { packs as packText } from "../../text/verify-packs.ts";
import { visible } from "../../text/visible.ts";
import { CheckList } from "../../verification/check-list.tsx";
import { PackResult } from "../../verification/pack-result.tsx";
import { VerdictBanner } from "../../verification/verdict-banner.tsx";
import {
  type GivenToPacks,
  type NamedFile,
  type VerifiedPacks,
  verifyPacks,
} from "../../verifier/verify-packs.ts";

/** The verdicts for all packs, verified again whenever a key or a pack is added. */
export function PackVerdicts({ packs, given }: { packs: readonly NamedFile[]; given: GivenToPacks }) {
  const [result, setResult] = useState<VerifiedPacks | "unable" | null>(null);
  useEffect(() => {
    let isCurrent = true;
    // A verdict with other keys must not be shown as the current one.
    setResult(null);
    verifyPacks(packs, given).then(
      (found) => {
        if (isCurrent) setResult(found);
      },
      () => {
        if (isCurrent) setResult("unable");
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [packs, given]);
  if (result === null) return <PageSkeleton />;
  if (result === "unable")
    return <VerdictBanner verdict="cannot_tell">{text.explanation.unable}</VerdictBanner>;
  return (
    <Stack>
      {result.outcomes.map((outcome, n) => (
        <PackResult key={n} outcome={outcome} />
      ))}
      {result.joined.map(({ org_id, packs: joined, verdict, checks }) => (
        <Section key={org_id} title={packText.together(joined.length, visible(org_id, 100))}>
          <VerdictBanner verdict={verdict}>{text.explanation[verdict]}</VerdictBanner>
          <CheckList lines={checks} />
        </Section>
      ))}
    </Stack>
  );
}

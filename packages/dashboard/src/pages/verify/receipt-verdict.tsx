import type { Receipt } from "@attestore/proof";
import { Anchor, Stack, Text } from "@mantine/core";
import { useEffect, useState } from "react";
import { PageSkeleton } from "../../parts/feedback/page-skeleton.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { verify as text } from "../../text/verify.ts";
import { visible } from "../../text/visible.ts";
import { chooseKeys, type TrustedKeys } from "../../verification/choose-keys.ts";
import { ReceiptResult } from "../../verification/receipt-result.tsx";
import { StatementView, whatItIs } from "../../verification/statement-view.tsx";
import { VerdictBanner } from "../../verification/verdict-banner.tsx";
import { type Keys, type VerdictHere, verifyInBrowser } from "../../verifier/verify-in-browser.ts";

/** The element id of the page's key fields. */
export const KEYS_PLACE = "keys-to-trust";

interface ReceiptVerdictProps {
  name: string;
  receipt: Receipt;
  trusted: TrustedKeys;
  ciphertextSha256: string | undefined;
}

/** The verdict for one receipt, verified again whenever a key is added. */
export function ReceiptVerdict({ name, receipt, trusted, ciphertextSha256 }: ReceiptVerdictProps) {
  const [result, setResult] = useState<{ verdict: VerdictHere; keys: Keys } | "unable" | null>(null);
  useEffect(() => {
    let isCurrent = true;
    const keys = chooseKeys(receipt, trusted);
    verifyInBrowser(receipt, keys, ciphertextSha256).then(
      (verdict) => {
        if (isCurrent) setResult({ verdict, keys });
      },
      // An earlier verdict, with other keys, must not be shown as the current one.
      () => {
        if (isCurrent) setResult("unable");
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [receipt, trusted, ciphertextSha256]);
  if (result === null) return <PageSkeleton />;
  if (result === "unable")
    return (
      <Section title={visible(name, 100)}>
        <VerdictBanner verdict="cannot_tell">{text.explanation.unable}</VerdictBanner>
      </Section>
    );
  const { verdict, keys } = result;
  const { statement } = verdict;
  return (
    <Stack>
      <Section title={visible(name, 100)}>
        <ReceiptResult verdict={verdict} keys={keys}>
          {verdict.verdict === "cannot_tell" && <Anchor href={`#${KEYS_PLACE}`}>{text.keys.give}</Anchor>}
        </ReceiptResult>
      </Section>
      {statement !== undefined && (
        <>
          <Text fw={600}>
            {whatItIs(statement)}
            {verdict.verdict !== "true" && `. ${text.explanation.claims}`}
          </Text>
          <StatementView statement={statement} />
        </>
      )}
    </Stack>
  );
}

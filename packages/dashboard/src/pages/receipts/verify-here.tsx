import { ProofError } from "@attestore/proof";
import { Button, Group, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useOrgId } from "../../api/session.ts";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { ReasonedButton } from "../../parts/actions/reasoned-button.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { formatMoment } from "../../text/format.ts";
import { receipts } from "../../text/receipts.ts";
import { verify } from "../../text/verify.ts";
import { KeyFields } from "../../verification/key-fields.tsx";
import { NO_TEXTS, readTexts } from "../../verification/key-texts.ts";
import { MalformedResult, ReceiptResult } from "../../verification/receipt-result.tsx";
import { verifyInBrowser } from "../../verifier/verify-in-browser.ts";
import { fetchProof, requireSame } from "./fetch-proof.ts";
import type { ReceiptDetail } from "./queries.ts";

const text = receipts.here;

/** Fetches the receipt's bundle and verifies it in this browser. */
export function VerifyHere({ receipt }: { receipt: ReceiptDetail }) {
  const orgId = useOrgId();
  const [texts, setTexts] = useState(NO_TEXTS);
  const [isOpen, { toggle }] = useDisclosure(false);
  const read = readTexts(texts);
  const verification = useMutation({
    mutationFn: async () => {
      const { bundle, keys } = await fetchProof(orgId, receipt.id, read.keys);
      requireSame(receipt, bundle);
      return {
        keys,
        verdict: await verifyInBrowser({ bundle }, keys, read.ciphertextSha256),
        at: new Date(),
      };
    },
  });
  const { data, error } = verification;
  const hasErrors = Object.keys(read.errors).length > 0;
  return (
    <Section title={text.title}>
      <Text size="sm">{text.explanation}</Text>
      <Group>
        <ReasonedButton
          loading={verification.isPending}
          disabledReason={hasErrors ? verify.keys.correctFirst : null}
          onClick={() => verification.mutate()}
        >
          {data === undefined ? text.button : text.again}
        </ReasonedButton>
        <Button variant="default" aria-expanded={isOpen} onClick={toggle}>
          {text.own}
        </Button>
      </Group>
      <div hidden={!isOpen}>
        <Stack gap="xs">
          <Text size="sm">{verify.keys.explanation}</Text>
          <KeyFields texts={texts} errors={read.errors} onChange={setTexts} />
        </Stack>
      </div>
      {error instanceof ProofError ? (
        <MalformedResult title={receipt.id} message={error.message} />
      ) : (
        error !== null && <FailurePanel error={error} onRetry={() => verification.mutate()} />
      )}
      {data !== undefined && (
        <ReceiptResult verdict={data.verdict} keys={data.keys}>
          <Text size="sm" c="dimmed">
            {text.at(formatMoment(data.at))}
          </Text>
        </ReceiptResult>
      )}
    </Section>
  );
}

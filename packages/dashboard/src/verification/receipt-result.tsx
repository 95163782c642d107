import { Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Section } from "../parts/layout/section.tsx";
import { verify as text } from "../text/verify.ts";
import { visible } from "../text/visible.ts";
import { CheckList } from "./check-list.tsx";
import { KeySources } from "./key-sources.tsx";
import { outcomeOf } from "./statement-view.tsx";
import { VerdictBanner } from "./verdict-banner.tsx";
import type { Keys, VerdictHere } from "../verifier/verify-in-browser.ts";

/** A verdict with every check behind it, and where its keys came from. */
export function ReceiptResult({
  verdict,
  keys,
  children,
}: {
  verdict: VerdictHere;
  keys: Keys;
  children?: ReactNode;
}) {
  return (
    <Stack>
      <VerdictBanner verdict={verdict.verdict} isOfFailedTest={saysTestFailed(verdict)}>
        {explanation(verdict)}
      </VerdictBanner>
      {verdict.verdict === "true" && saysTestFailed(verdict) && (
        <Text fw={600} c="var(--status-failed)">
          {text.explanation.trueFailed}
        </Text>
      )}
      {verdict.heldByServed && saysTestFailed(verdict) && (
        <Text fw={600} c="var(--status-failed)">
          {text.explanation.servedFailed}
        </Text>
      )}
      <CheckList lines={verdict.checks} />
      <KeySources keys={keys} />
      {children}
    </Stack>
  );
}

/** A file that claims to be a receipt but cannot be a true one. */
export function MalformedResult({ title, message }: { title: string; message: string }) {
  return (
    <Section title={title}>
      <VerdictBanner verdict="false">
        {text.explanation.malformed}
        {visible(message, 1000)}
      </VerdictBanner>
    </Section>
  );
}

function explanation({ verdict, heldByServed }: VerdictHere): string {
  return heldByServed ? text.explanation.heldByServed : text.explanation[verdict];
}

function saysTestFailed({ statement }: VerdictHere): boolean {
  return statement !== undefined && outcomeOf(statement) === "failed";
}

import { formatVerifierKey } from "@attestore/proof";
import { Code, Stack, Text } from "@mantine/core";
import { FactList } from "../../parts/facts/fact-list.tsx";
import { verify } from "../../text/verify.ts";
import { CheckList } from "../../verification/check-list.tsx";
import type { CheckedLine } from "../../verification/checked-line.ts";
import { VerdictBanner } from "../../verification/verdict-banner.tsx";
import type { VerifiedEvent } from "./verify-event.ts";

/** The result of checking an event against the log. */
export function LogResult({ lines, logKey }: VerifiedEvent) {
  const found = verdictOf(lines);
  const heldByServed = found === "true" && logKey.origin === "served";
  const verdict = heldByServed ? "cannot_tell" : found;
  return (
    <Stack>
      <VerdictBanner verdict={verdict}>
        {heldByServed ? verify.explanation.heldByServedLog : verify.explanation[verdict]}
      </VerdictBanner>
      <CheckList lines={lines} />
      <FactList
        facts={[
          [
            verify.source.log,
            <>
              <Code>{formatVerifierKey(logKey.key)}</Code>
              <Text size="sm" c="dimmed">
                {verify.logOrigin[logKey.origin]}
              </Text>
            </>,
          ],
        ]}
      />
    </Stack>
  );
}

function verdictOf(lines: readonly CheckedLine[]): "true" | "false" | "cannot_tell" {
  if (lines.some(({ result }) => result === "failed")) return "false";
  return lines.every(({ result }) => result === "held") ? "true" : "cannot_tell";
}

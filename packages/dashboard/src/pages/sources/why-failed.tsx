import { Code, Stack, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useOrgId } from "../../api/session.ts";
import { FactList } from "../../parts/facts/fact-list.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import type { Concern } from "../../text/home.ts";
import { sourceText } from "../../text/sources.ts";
import { visible } from "../../text/visible.ts";
import { failedFirst } from "../../verification/failed-first.ts";
import { messageIn } from "../events/event-words.ts";
import { newestEventQuery } from "../events/queries.ts";
import { restoreTestsQuery } from "./queries.ts";

const text = sourceText.why;

/** The event in which an agent reports each of these. */
const EVENTS: Partial<Record<Concern, string>> = {
  restore_could_not_run: "restore_failed",
  backup_failed: "backup_failed",
  attestation_failed: "attestation_failed",
};

/** Why the last run failed or could not be done, with its record; nothing for other concerns. */
export function WhyFailed({ sourceId, concern }: { sourceId: string; concern: Concern | undefined }) {
  if (concern === undefined) return null;
  if (concern === "restore_test_failed") return <FailedTest sourceId={sourceId} />;
  const kind = EVENTS[concern];
  return kind === undefined ? null : <Reported sourceId={sourceId} kind={kind} />;
}

/** What the last restore test found: the check that did not hold, or what kept it from any. */
function FailedTest({ sourceId }: { sourceId: string }) {
  const { data } = useInfiniteQuery(restoreTestsQuery(useOrgId(), sourceId));
  const test = data?.pages[0]?.items[0];
  if (test?.result !== "failed") return null;
  const failed = failedFirst(test.checks).filter(({ result }) => result === "failed");
  const [check] = failed;
  const link = { id: test.receipt_id, words: text.receipt };
  if (check === undefined)
    return (
      <Why facts={test.reason === undefined ? [] : [[text.why, visible(test.reason, 500)]]} link={link} />
    );
  // Some checks say in words why they did not hold.
  const { error: why, ...values } = check.observed;
  const saw = Object.entries(values).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  return (
    <Why
      facts={[
        [text.check, visible(check.id, 100)],
        [text.expected, <Code key="e">{visible(check.expectation)}</Code>],
        ...(saw.length === 0 ? [] : ([[text.saw, <Code key="s">{visible(saw.join(", "))}</Code>]] as const)),
        ...(typeof why === "string" ? ([[text.why, visible(why, 500)]] as const) : []),
      ]}
      more={failed.length === 1 ? undefined : text.more(failed.length - 1)}
      link={link}
    />
  );
}

/** What the agent said when it last reported this. */
function Reported({ sourceId, kind }: { sourceId: string; kind: string }) {
  const { data: event } = useQuery(newestEventQuery(useOrgId(), { source_id: sourceId, kind }));
  if (event === undefined || event === null) return null;
  const message = messageIn(event);
  return (
    <Why
      facts={message === null ? [] : [[text.why, visible(message, 500)]]}
      link={{ id: event.id, words: text.event }}
    />
  );
}

function Why({
  facts,
  more,
  link,
}: {
  facts: readonly (readonly [string, ReactNode])[];
  more?: string | undefined;
  link: { id: string; words: string };
}) {
  return (
    <Stack gap={8}>
      {facts.length > 0 && <FactList facts={facts} />}
      <Text size="sm">
        {more !== undefined && `${more} `}
        <RecordLink id={link.id} inText>
          {link.words}
        </RecordLink>
      </Text>
    </Stack>
  );
}

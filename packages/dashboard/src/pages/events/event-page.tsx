import { Code, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { useOrgId } from "../../api/session.ts";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { FactList } from "../../parts/facts/fact-list.tsx";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { SourceName } from "../../parts/records/source-choice.tsx";
import { eventText } from "../../text/log.ts";
import { visible } from "../../text/visible.ts";
import { LogResult } from "../log/log-result.tsx";
import { verifyEvent } from "../log/verify-event.ts";
import { ActorView } from "./actor-view.tsx";
import { kindWords, messageIn } from "./event-words.ts";
import { eventQuery, type LogEvent } from "./queries.ts";

const route = getRouteApi("/signed-in/events/$eventId");
const text = eventText.page;

export function EventPage() {
  const { eventId } = route.useParams();
  return (
    <QueryResult query={useQuery(eventQuery(useOrgId(), eventId))} isPage>
      {(event) => <Shown event={event} />}
    </QueryResult>
  );
}

function Shown({ event }: { event: LogEvent }) {
  const lead = (
    <>
      <Moment at={event.occurred_at} />, <Code>{event.id}</Code>
    </>
  );
  return (
    <Page title={kindWords(event.kind)} lead={lead}>
      <Section title={text.facts}>
        <FactList facts={factsOf(event)} />
      </Section>
      <Section title={text.detail}>
        {Object.keys(event.detail).length === 0 ? (
          <Text>{text.noDetail}</Text>
        ) : (
          <Code
            block
            tabIndex={0}
            aria-label={text.detail}
            style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}
          >
            {JSON.stringify(event.detail, null, 2)}
          </Code>
        )}
      </Section>
      <VerifyEvent key={event.id} event={event} />
    </Page>
  );
}

function factsOf(event: LogEvent): (readonly [string, ReactNode])[] {
  const { source_id, backup_id, command_id } = event;
  const message = messageIn(event);
  return [
    ...(message === null ? [] : [[text.message, visible(message, 2000)] as const]),
    [text.kind, <Code>{event.kind}</Code>],
    ...(source_id === undefined ? [] : [[text.source, <SourceName id={source_id} />] as const]),
    ...(backup_id === undefined ? [] : [[text.backup, <RecordLink id={backup_id} />] as const]),
    ...(command_id === undefined ? [] : [[text.command, <RecordLink id={command_id} />] as const]),
    [text.actor, <ActorView actor={event.actor} />],
    ...(event.actor.kind === "agent" ? [[text.signature, signatureOf(event)] as const] : []),
    [text.occurred, <Moment at={event.occurred_at} />],
    [text.recorded, <Moment at={event.created_at} />],
    [text.index, event.log_index.toLocaleString("en-GB")],
    [text.leafHash, <Code>{event.leaf_hash}</Code>],
  ];
}

/** The key shown here is only a claim: compare it with the host's. */
function signatureOf({ envelope }: LogEvent): ReactNode {
  const keyid = envelope?.signatures[0]?.keyid;
  return envelope === undefined ? (
    text.unsigned
  ) : (
    <>
      {text.signed} <Code>{keyid ?? ""}</Code>
    </>
  );
}

function VerifyEvent({ event }: { event: LogEvent }) {
  const orgId = useOrgId();
  const verification = useMutation({ mutationFn: () => verifyEvent(orgId, event) });
  const { data, error } = verification;
  return (
    <Section title={text.here}>
      <Text size="sm">{text.hereExplanation}</Text>
      <Button w="fit-content" loading={verification.isPending} onClick={() => verification.mutate()}>
        {text.button}
      </Button>
      {error !== null && <FailurePanel error={error} onRetry={() => verification.mutate()} />}
      {data !== undefined && <LogResult {...data} />}
    </Section>
  );
}

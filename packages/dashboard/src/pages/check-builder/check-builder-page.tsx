import { Button, Group, Stack, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useAskAgent } from "../../api/ask-agent.ts";
import { useHosts } from "../../api/use-hosts.ts";
import { useMayManage, useOrgId } from "../../api/session.ts";
import { AskFailure } from "../../parts/feedback/ask-failure.tsx";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { HostState } from "../../parts/facts/host-state.tsx";
import { nameFrom } from "../../parts/actions/name-form.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { ReasonedButton } from "../../parts/actions/reasoned-button.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { WaitingLine } from "../../parts/feedback/waiting-line.tsx";
import { checkBuilder as text } from "../../text/check-builder.ts";
import { restoreTestsQuery, type SourceDetail, sourceQuery } from "../sources/queries.ts";
import { AddTriedCheck } from "./add-tried-check.tsx";
import { ChooseMeasure, type Draft, EMPTY, requestOf } from "./choose-measure.tsx";
import { pastRows } from "./past-values.ts";
import { Sparkline } from "./sparkline.tsx";
import { canBeAdded, TriedCheck } from "./tried-check.tsx";

const route = getRouteApi("/signed-in/sources/$sourceId/new-check");

/** Measures something of a restored backup, and makes a check of it. */
export function CheckBuilderPage() {
  const { sourceId } = route.useParams();
  const source = useQuery(sourceQuery(useOrgId(), sourceId));
  const mayManage = useMayManage();
  return (
    <QueryResult query={source} isPage>
      {(data) => (
        <Page title={text.title(data.name)} lead={text.lead}>
          {mayManage ? <Host source={data} /> : <Text>{text.onlyManagers}</Text>}
        </Page>
      )}
    </QueryResult>
  );
}

function Host({ source }: { source: SourceDetail }) {
  const hosts = useHosts();
  return (
    <QueryResult query={hosts}>
      {(agents) => {
        const agent = agents.find(({ id }) => id === source.agent_id);
        if (agent === undefined) return <Text>{text.gone}</Text>;
        return (
          <>
            <HostState agent={agent} now={hosts.dataUpdatedAt} />
            {agent.remote_config && <Builder agentId={agent.id} source={source} />}
          </>
        );
      }}
    </QueryResult>
  );
}

function Builder({ agentId, source }: { agentId: string; source: SourceDetail }) {
  const [draft, setDraft] = useState<Draft>(EMPTY);
  const listing = useAskAgent(agentId, "list_columns");
  const attempt = useAskAgent(agentId, "try_check");
  const listed = listing.data?.result;
  const change = (next: Draft): void => {
    setDraft(next);
    // The result on the page is of the check before this change.
    attempt.reset();
  };
  return (
    <>
      <Section title={text.measureTitle}>
        {listed === undefined ? (
          <Group>
            <Button
              variant="default"
              loading={listing.isPending}
              onClick={() => listing.mutate({ source: source.slug })}
            >
              {text.look}
            </Button>
          </Group>
        ) : (
          <ChooseMeasure tables={listed.tables} draft={draft} onChange={change} />
        )}
        {listing.isPending && <WaitingLine>{text.looking}</WaitingLine>}
        {listing.isError && <AskFailure error={listing.error} />}
        {listed?.is_cut === true && <Text size="sm">{text.cut}</Text>}
        {draft.measure === "rows" && draft.table !== null && (
          <Past sourceId={source.id} table={draft.table} limit={draft.threshold} />
        )}
      </Section>
      {listed !== undefined && (
        <Section title={text.tryTitle}>
          <TryButton source={source} draft={draft} attempt={attempt} />
          {attempt.isPending && <WaitingLine>{text.running}</WaitingLine>}
          {attempt.isError && <AskFailure error={attempt.error} />}
          {attempt.isSuccess && <TriedCheck check={attempt.data.result.check} />}
        </Section>
      )}
      {attempt.isSuccess && canBeAdded(attempt.data.result.check) && (
        <Section title={text.addTitle}>
          <AddTriedCheck
            key={attempt.data.id}
            agentId={agentId}
            sourceId={source.id}
            tried={attempt.data.id}
            proposal={nameOf(draft)}
          />
        </Section>
      )}
    </>
  );
}

interface TryButtonProps {
  source: SourceDetail;
  draft: Draft;
  attempt: ReturnType<typeof useAskAgent<"try_check">>;
}

function TryButton({ source, draft, attempt }: TryButtonProps) {
  const request = requestOf(draft);
  return (
    <Group>
      <ReasonedButton
        loading={attempt.isPending}
        disabledReason={request === null ? text.incomplete : null}
        onClick={() => {
          if (request !== null) attempt.mutate({ source: source.slug, ...request });
        }}
      >
        {text.start}
      </ReasonedButton>
    </Group>
  );
}

function Past({ sourceId, table, limit }: { sourceId: string; table: string; limit: number | null }) {
  const tests = useInfiniteQuery(restoreTestsQuery(useOrgId(), sourceId));
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        {text.past}
      </Text>
      <QueryResult query={tests}>
        {({ pages }) => (
          <Sparkline
            values={pastRows(
              pages.flatMap(({ items }) => items),
              table,
            )}
            limit={limit}
          />
        )}
      </QueryResult>
    </Stack>
  );
}

const PREFIX = { rows: "has", distinct: "different", filled: "filled", newest: "fresh" } as const;

function nameOf({ measure, table, column }: Draft): string {
  return nameFrom(PREFIX[measure], (table ?? "").replace(/^.*\./, ""), column ?? "");
}

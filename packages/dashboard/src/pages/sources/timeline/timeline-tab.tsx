import { Group, NativeSelect, Stack, VisuallyHidden } from "@mantine/core";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useOrgId } from "../../../api/session.ts";
import { QueryResult } from "../../../parts/feedback/query-result.tsx";
import { EmptyState } from "../../../parts/feedback/empty-state.tsx";
import { MoreButton } from "../../../parts/records/more-button.tsx";
import { SteadyRows } from "../../../parts/records/steady-rows.tsx";
import { sourceText } from "../../../text/sources.ts";
import { driftQuery, restoreTestsQuery, type SourceDetail, timelineQuery } from "../queries.ts";
import { TOPICS } from "../search-params.ts";
import { TimelineEntry } from "./timeline-entry.tsx";
import classes from "./timeline.module.css";
import { timelineRows } from "./timeline-rows.ts";

const text = sourceText.timeline;
const route = getRouteApi("/signed-in/sources/$sourceId");

/** Everything recorded about a source, newest first. */
export function TimelineTab({ source }: { source: SourceDetail }) {
  const { topic } = route.useSearch();
  const navigate = route.useNavigate();
  const orgId = useOrgId();
  const timeline = useInfiniteQuery({
    ...timelineQuery(orgId, source.id, topic),
    placeholderData: keepPreviousData,
  });
  const drift = useInfiniteQuery(driftQuery(orgId, source.id));
  const driftCounts = new Map<string, number>();
  for (const { backup_id } of drift.data?.pages.flatMap(({ items }) => items) ?? [])
    driftCounts.set(backup_id, (driftCounts.get(backup_id) ?? 0) + 1);
  const tests = useInfiniteQuery(restoreTestsQuery(orgId, source.id));
  const testsByReceipt = new Map(
    tests.data?.pages.flatMap(({ items }) => items.map((test) => [test.receipt_id, test] as const)),
  );
  const choose = (value: string): void => {
    const next = TOPICS.find((known) => known === value);
    void navigate({
      search: ({ topic: _before, ...rest }) => (next === undefined ? rest : { ...rest, topic: next }),
      replace: true,
      resetScroll: false,
    });
  };
  return (
    <Stack>
      <VisuallyHidden>
        <h2>{text.heading}</h2>
      </VisuallyHidden>
      <Group>
        <NativeSelect
          label={text.topic}
          value={topic ?? "all"}
          onChange={(event) => choose(event.currentTarget.value)}
          data={(["all", ...TOPICS] as const).map((value) => ({ value, label: text.topics[value] }))}
        />
      </Group>
      <QueryResult query={timeline}>
        {({ pages }) => {
          const rows = timelineRows(pages.flatMap(({ items }) => items));
          if (rows.length === 0)
            return <EmptyState>{topic === undefined ? text.none : text.noneOfTopic}</EmptyState>;
          return (
            <SteadyRows of={timeline.isPlaceholderData ? "other" : `${source.id} ${topic ?? ""}`}>
              <ol
                className={classes["list"]}
                aria-label={text.topics[topic ?? "all"]}
                aria-busy={timeline.isPlaceholderData}
              >
                {rows.map((row) => (
                  <TimelineEntry
                    key={row.id}
                    row={row}
                    drift={driftCounts.get(row.id) ?? 0}
                    test={testsByReceipt.get(row.id)}
                  />
                ))}
              </ol>
            </SteadyRows>
          );
        }}
      </QueryResult>
      <MoreButton list={timeline} />
    </Stack>
  );
}

import { Code, Stack } from "@mantine/core";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useOrgId } from "../../api/session.ts";
import { Age } from "../../parts/age.tsx";
import { Awaited } from "../../parts/awaited.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { MoreButton } from "../../parts/more-button.tsx";
import { Page } from "../../parts/page.tsx";
import { RecordLink } from "../../parts/record-link.tsx";
import { type Column, RecordTable } from "../../parts/record-table.tsx";
import { formatMilliseconds } from "../../text/format.ts";
import { apiLogText as text } from "../../text/api-logs.ts";
import { Actor } from "./actor.tsx";
import { ApiLogFilters } from "./api-log-filters.tsx";
import { CallStatus } from "./call-status.tsx";
import { type ApiLog, apiLogListQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/api-logs");

export function ApiLogsPage() {
  const search = route.useSearch();
  const list = useInfiniteQuery({
    ...apiLogListQuery(useOrgId(), search),
    placeholderData: keepPreviousData,
  });
  return (
    <Page title={text.title} lead={text.lead}>
      <ApiLogFilters search={search} />
      <Awaited query={list}>
        {({ pages }) => {
          const found = pages.flatMap(({ items }) => items);
          if (found.length === 0)
            return <EmptyState>{Object.keys(search).length > 0 ? text.noMatch : text.none}</EmptyState>;
          return (
            <Stack>
              <RecordTable caption={text.caption} columns={COLUMNS} rows={found} rowKey={({ id }) => id} />
              <MoreButton list={list} />
            </Stack>
          );
        }}
      </Awaited>
    </Page>
  );
}

const COLUMNS: readonly Column<ApiLog>[] = [
  {
    header: text.columns.at,
    cell: ({ id, created_at }) => (
      <RecordLink id={id}>
        <Age at={created_at} />
      </RecordLink>
    ),
  },
  { header: text.columns.actor, cell: (log) => <Actor log={log} /> },
  {
    header: text.columns.path,
    cell: ({ method, path }) => (
      <Code>
        {method} {path}
      </Code>
    ),
  },
  { header: text.columns.status, cell: ({ status }) => <CallStatus status={status} /> },
  {
    header: text.columns.duration,
    numeric: true,
    cell: ({ duration_ms }) => formatMilliseconds(duration_ms),
  },
  { header: text.columns.address, cell: ({ address }) => address },
];

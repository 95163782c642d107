import { Code } from "@mantine/core";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useOrgId } from "../../api/session.ts";
import { Age } from "../../parts/marks/age.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import { NoneFound, RecordList } from "../../parts/records/record-list.tsx";
import type { Column } from "../../parts/records/record-table.tsx";
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
      <RecordList
        list={list}
        caption={text.caption}
        columns={COLUMNS}
        empty={<NoneFound search={search} none={text.none} noMatch={text.noMatch} />}
      />
    </Page>
  );
}

/**
 * Shortens the organisation's id, which is in nearly every path; the call's page shows the full
 * path.
 */
function shortened(path: string): string {
  return path.replace(/^\/api\/orgs\/org_[0-9a-z]+/, "/api/orgs/…");
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
        {method} {shortened(path)}
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

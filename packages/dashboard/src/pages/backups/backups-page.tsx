import { Anchor, Button, Group, Stack } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useOrgId } from "../../api/session.ts";
import { Age } from "../../parts/age.tsx";
import { Awaited } from "../../parts/awaited.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Choice, FilterBar, PeriodChoice } from "../../parts/filter-bar.tsx";
import { Moment } from "../../parts/moment.tsx";
import { MoreButton } from "../../parts/more-button.tsx";
import { Page } from "../../parts/page.tsx";
import { type Column, RecordTable } from "../../parts/record-table.tsx";
import { SourceChoice, SourceName } from "../../parts/source-choice.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { backups as text } from "../../text/backups.ts";
import { formatBytes } from "../../text/format.ts";
import { type Backup, backupListQuery } from "./queries.ts";
import { type BackupSearch, STATUSES } from "./search.ts";

const route = getRouteApi("/signed-in/backups");

export function BackupsPage() {
  const orgId = useOrgId();
  const search = route.useSearch();
  const list = useInfiniteQuery(backupListQuery(orgId, search));
  return (
    <Page title={text.list.title} lead={text.list.lead}>
      <BackupFilters search={search} />
      <Awaited query={list}>
        {({ pages }) => {
          const found = pages.flatMap(({ items }) => items);
          if (found.length === 0) return <NoBackups isFiltered={Object.keys(search).length > 0} />;
          return (
            <Stack>
              <RecordTable caption={text.list.title} columns={COLUMNS} rows={found} rowKey={({ id }) => id} />
              <MoreButton list={list} />
            </Stack>
          );
        }}
      </Awaited>
    </Page>
  );
}

function BackupFilters({ search }: { search: BackupSearch }) {
  const navigate = route.useNavigate();
  const filter = (more: { [Name in keyof BackupSearch]?: BackupSearch[Name] | undefined }): void =>
    // What is undefined is left out of the address.
    void navigate({ search: { ...search, ...more } as BackupSearch, replace: true });
  return (
    <FilterBar>
      <SourceChoice value={search.source_id} onChange={(source_id) => filter({ source_id })} />
      <Choice
        label={text.filter.status}
        all={text.filter.allStatuses}
        value={search.status}
        choices={STATUSES.map((status) => [status, text.statusFilter[status]] as const)}
        onChange={(status) => filter({ status })}
      />
      <PeriodChoice from={search.from} to={search.to} onChange={filter} />
    </FilterBar>
  );
}

function NoBackups({ isFiltered }: { isFiltered: boolean }) {
  if (!isFiltered) return <EmptyState>{text.list.empty}</EmptyState>;
  const all = (
    <Button variant="default" renderRoot={(props) => <Link to="/backups" search={{}} {...props} />}>
      {text.list.clear}
    </Button>
  );
  return <EmptyState action={all}>{text.list.noMatch}</EmptyState>;
}

const COLUMNS: Column<Backup>[] = [
  {
    header: text.list.columns.backup,
    cell: ({ id, created_at, proven_at }) => (
      <Group gap={6} wrap="nowrap">
        <StatusMark status={proven_at === null ? "backed_up" : "proven"} />
        <Anchor
          inherit
          renderRoot={(props) => <Link to="/backups/$backupId" params={{ backupId: id }} {...props} />}
        >
          <Moment at={created_at} />
        </Anchor>
      </Group>
    ),
  },
  { header: text.list.columns.source, cell: ({ source_id }) => <SourceName id={source_id} /> },
  { header: text.list.columns.made, cell: ({ created_at }) => <Age at={created_at} /> },
  {
    header: text.list.columns.proven,
    cell: ({ proven_at }) => <Age at={proven_at} fallback={text.notProven} />,
  },
  { header: text.list.columns.size, numeric: true, cell: ({ size_bytes }) => formatBytes(size_bytes) },
  { header: text.list.columns.status, cell: ({ status }) => text.status[status] },
];

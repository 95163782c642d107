import { Anchor, Group } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useOrgId } from "../../api/session.ts";
import { Age } from "../../parts/marks/age.tsx";
import { Choice, FilterBar, PeriodChoice } from "../../parts/records/filter-bar.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { NoneFound, RecordList } from "../../parts/records/record-list.tsx";
import type { Column } from "../../parts/records/record-table.tsx";
import { SourceChoice, SourceName } from "../../parts/records/source-choice.tsx";
import { StatusMark } from "../../parts/marks/status-mark.tsx";
import { useFilter } from "../../parts/records/use-filter.ts";
import { backups as text } from "../../text/backups.ts";
import { formatBytes } from "../../text/format.ts";
import { Proof } from "./proof.tsx";
import { type Backup, backupListQuery } from "./queries.ts";
import { refutedBy } from "./refuted-by.ts";
import { type BackupSearch, STATUSES } from "./search-params.ts";

const route = getRouteApi("/signed-in/backups");

export function BackupsPage() {
  const orgId = useOrgId();
  const search = route.useSearch();
  const list = useInfiniteQuery(backupListQuery(orgId, search));
  return (
    <Page title={text.list.title} lead={text.list.lead}>
      <BackupFilters search={search} />
      <RecordList
        list={list}
        caption={text.list.title}
        columns={COLUMNS}
        empty={<NoneFound search={search} none={text.list.empty} noMatch={text.list.noMatch} />}
      />
    </Page>
  );
}

function BackupFilters({ search }: { search: BackupSearch }) {
  const filter = useFilter(search);
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

const COLUMNS: readonly Column<Backup>[] = [
  {
    header: text.list.columns.backup,
    cell: (backup) => (
      <Group gap={6} wrap="nowrap">
        <StatusMark
          status={refutedBy(backup) !== null ? "failed" : backup.proven_at === null ? "backed_up" : "proven"}
        />
        <Anchor
          inherit
          renderRoot={(props) => <Link to="/backups/$backupId" params={{ backupId: backup.id }} {...props} />}
        >
          <Moment at={backup.created_at} />
        </Anchor>
      </Group>
    ),
  },
  { header: text.list.columns.source, cell: ({ source_id }) => <SourceName id={source_id} /> },
  { header: text.list.columns.made, cell: ({ created_at }) => <Age at={created_at} /> },
  {
    header: text.list.columns.proven,
    cell: (backup) => <Proof backup={backup} />,
  },
  { header: text.list.columns.size, numeric: true, cell: ({ size_bytes }) => formatBytes(size_bytes) },
  { header: text.list.columns.status, cell: ({ status }) => text.status[status] },
];

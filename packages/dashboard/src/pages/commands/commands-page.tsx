import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useOrgId } from "../../api/session.ts";
import { Age } from "../../parts/marks/age.tsx";
import { Choice, FilterBar } from "../../parts/records/filter-bar.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import { NoneFound, RecordList } from "../../parts/records/record-list.tsx";
import type { Column } from "../../parts/records/record-table.tsx";
import { SourceChoice, SourceName } from "../../parts/records/source-choice.tsx";
import { useFilter } from "../../parts/records/use-filter.ts";
import { commandText as text } from "../../text/commands.ts";
import type { Command } from "./command-state.ts";
import { CommandMark } from "./command-mark.tsx";
import { CommandOutcome } from "./command-outcome.tsx";
import { Issuer } from "./issuer.tsx";
import { commandListQuery } from "./queries.ts";
import { type CommandSearch, KINDS, STATUSES } from "./search-params.ts";

const route = getRouteApi("/signed-in/commands");

export function CommandsPage() {
  const search = route.useSearch();
  const list = useInfiniteQuery({
    ...commandListQuery(useOrgId(), search),
    placeholderData: keepPreviousData,
  });
  return (
    <Page title={text.title} lead={text.lead}>
      <CommandFilters search={search} />
      <RecordList
        list={list}
        caption={text.caption}
        columns={COLUMNS}
        empty={<NoneFound search={search} none={text.none} noMatch={text.noMatch} />}
      />
    </Page>
  );
}

function CommandFilters({ search }: { search: CommandSearch }) {
  const filter = useFilter(search);
  return (
    <FilterBar>
      <Choice
        label={text.filters.status}
        all={text.filters.all}
        value={search.status}
        choices={STATUSES.map((status) => [status, text.statuses[status]] as const)}
        onChange={(status) => filter({ status })}
      />
      <Choice
        label={text.filters.kind}
        all={text.filters.all}
        value={search.kind}
        choices={KINDS.map((kind) => [kind, text.kinds[kind]] as const)}
        onChange={(kind) => filter({ kind })}
      />
      <SourceChoice value={search.source_id} onChange={(source_id) => filter({ source_id })} />
    </FilterBar>
  );
}

const COLUMNS: readonly Column<Command>[] = [
  {
    header: text.columns.kind,
    cell: ({ id, kind }) => <RecordLink id={id}>{text.kinds[kind]}</RecordLink>,
  },
  { header: text.columns.source, cell: ({ source_id }) => <SourceName id={source_id} /> },
  { header: text.columns.status, cell: (command) => <CommandMark command={command} /> },
  { header: text.columns.created, cell: ({ created_at }) => <Age at={created_at} /> },
  { header: text.columns.by, cell: ({ issued_by }) => <Issuer id={issued_by} /> },
  { header: text.columns.outcome, cell: (command) => <CommandOutcome command={command} /> },
];

import { Button, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMayManage, useMe, useOrgId } from "../../api/session.ts";
import { Age } from "../../parts/marks/age.tsx";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { EmptyState } from "../../parts/feedback/empty-state.tsx";
import { Choice, FilterBar } from "../../parts/records/filter-bar.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import { type Column, RecordTable } from "../../parts/records/record-table.tsx";
import { useFilter } from "../../parts/records/use-filter.ts";
import { addSource } from "../../text/add-source.ts";
import { sourceText } from "../../text/sources.ts";
import { LabelFilters } from "./label-filters.tsx";
import { type Labels, labelWords } from "./labels.ts";
import { arranged, type ListedSource, type ListFilter } from "./listed-sources.ts";
import { overviewQuery } from "../../api/overview.ts";
import { sourceListQuery } from "../../api/source-list.ts";
import { SORTS, STATES } from "./search-params.ts";
import { SourceState } from "./source-state.tsx";
import { useAgents } from "../../api/use-agents.ts";
import { engineName } from "../../text/engines.ts";

const text = sourceText.list;
const route = getRouteApi("/signed-in/sources");

export function SourcesPage() {
  const isReader = useMe().user.role === "reader";
  const mayManage = useMayManage();
  const search = route.useSearch();
  return (
    <Page title={text.title} lead={text.lead} actions={mayManage ? <AddLink /> : undefined}>
      {isReader ? <SourcesOfPeriod search={search} /> : <SourcesNow search={search} />}
    </Page>
  );
}

function AddLink() {
  return (
    <Button variant="default" renderRoot={(props) => <Link to="/sources/add" {...props} />}>
      {addSource.open}
    </Button>
  );
}

function SourcesNow({ search }: { search: ListFilter }) {
  const overview = useQuery(overviewQuery(useOrgId(), 30));
  return (
    <>
      <SourceFilters search={search} sources={overview.data?.sources} withState />
      <QueryResult query={overview}>
        {({ sources }) => <SourceTable all={sources} search={search} />}
      </QueryResult>
    </>
  );
}

/** A reader with an auditor link sees a past period, so nothing that is due now. */
function SourcesOfPeriod({ search }: { search: ListFilter }) {
  const list = useQuery(sourceListQuery(useOrgId()));
  return (
    <>
      <SourceFilters search={search} sources={list.data} withState={false} />
      <QueryResult query={list}>
        {(sources) => (
          <SourceTable
            all={sources.map((source) => ({ ...source, state: null, concerns: [] }))}
            search={search}
          />
        )}
      </QueryResult>
    </>
  );
}

function SourceTable({ all, search }: { all: readonly ListedSource[]; search: ListFilter }) {
  const mayManage = useMayManage();
  if (all.length === 0)
    return <EmptyState action={mayManage ? <AddLink /> : undefined}>{text.none}</EmptyState>;
  const shown = arranged(all, search);
  return (
    <Stack>
      <Text size="sm" c="dimmed" role="status">
        {text.shown(shown.length, all.length)}
      </Text>
      {shown.length === 0 ? (
        <EmptyState>{text.noMatch}</EmptyState>
      ) : (
        <RecordTable
          caption={text.caption}
          columns={all.some(({ state }) => state !== null) ? COLUMNS : COLUMNS_OF_PERIOD}
          rows={shown}
          rowKey={({ id }) => id}
        />
      )}
    </Stack>
  );
}

interface SourceFiltersProps {
  search: ListFilter;
  sources: readonly Labels[] | undefined;
  withState: boolean;
}

function SourceFilters({ search, sources = [], withState }: SourceFiltersProps) {
  const filter = useFilter(search);
  return (
    <FilterBar>
      <TextInput
        label={text.filter}
        type="search"
        value={search.name ?? ""}
        onChange={({ currentTarget }) => filter({ name: currentTarget.value || undefined })}
      />
      {withState && (
        <Choice
          label={text.state}
          all={text.allStates}
          value={search.state}
          choices={STATES.map((state) => [state, sourceText.states[state]] as const)}
          onChange={(state) => filter({ state })}
        />
      )}
      <LabelFilters sources={sources} filter={search} onChange={filter} />
      <NativeSelect
        label={text.sort}
        value={search.sort ?? "trouble"}
        data={SORTS.map((sort) => ({ value: sort, label: text.sorts[sort] }))}
        onChange={({ currentTarget }) => filter({ sort: SORTS.find((sort) => sort === currentTarget.value) })}
      />
    </FilterBar>
  );
}

function AgentName({ id }: { id: string }) {
  return <RecordLink id={id}>{useAgents().nameOf(id)}</RecordLink>;
}

const name: Column<ListedSource> = {
  header: text.columns.name,
  cell: (source) => (
    <div>
      <RecordLink id={source.id}>{source.name}</RecordLink>
      <Text size="sm" c="dimmed">
        {[engineName(source.engine), labelWords(source)].filter((part) => part !== "").join(" · ")}
      </Text>
    </div>
  ),
};
const clocks: Column<ListedSource>[] = [
  { header: text.columns.lastBackup, cell: ({ last_backup_at }) => <Age at={last_backup_at} /> },
  { header: text.columns.lastProof, cell: ({ last_proven_at }) => <Age at={last_proven_at} /> },
];
const agent: Column<ListedSource> = {
  header: text.columns.agent,
  cell: ({ agent_id }) => <AgentName id={agent_id} />,
};

const COLUMNS: readonly Column<ListedSource>[] = [
  name,
  {
    header: text.columns.state,
    cell: ({ state, concerns }) => state !== null && <SourceState state={state} concerns={concerns} />,
  },
  ...clocks,
  {
    header: text.columns.next,
    cell: ({ next_backup_at }) => <Age at={next_backup_at} fallback={sourceText.clocks.notScheduled} />,
  },
  agent,
];

const COLUMNS_OF_PERIOD: readonly Column<ListedSource>[] = [name, ...clocks, agent];

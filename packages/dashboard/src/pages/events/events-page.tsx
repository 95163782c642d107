import { Anchor, Group } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useOrgId } from "../../api/session.ts";
import { Age } from "../../parts/marks/age.tsx";
import { Choice, FilterBar, PeriodChoice } from "../../parts/records/filter-bar.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { NoneFound, RecordList } from "../../parts/records/record-list.tsx";
import type { Column } from "../../parts/records/record-table.tsx";
import { SourceChoice, SourceName } from "../../parts/records/source-choice.tsx";
import { StatusMark } from "../../parts/marks/status-mark.tsx";
import { useFilter } from "../../parts/records/use-filter.ts";
import { eventText as text } from "../../text/log.ts";
import { ActorView } from "./actor-view.tsx";
import { KIND_CHOICES, kindWords, markOf } from "./event-words.ts";
import { eventListQuery, type LogEvent } from "./queries.ts";
import type { EventSearch } from "./search-params.ts";

const route = getRouteApi("/signed-in/events");

export function EventsPage() {
  const orgId = useOrgId();
  const search = route.useSearch();
  const list = useInfiniteQuery(eventListQuery(orgId, search));
  return (
    <Page title={text.list.title} lead={text.list.lead}>
      <EventFilters search={search} />
      <RecordList
        list={list}
        caption={text.list.title}
        columns={COLUMNS}
        empty={<NoneFound search={search} none={text.list.empty} noMatch={text.list.noMatch} />}
      />
    </Page>
  );
}

function EventFilters({ search }: { search: EventSearch }) {
  const filter = useFilter(search);
  const { kind } = search;
  // The URL may name a kind that this page has no words for.
  const choices =
    kind === undefined || KIND_CHOICES.some(([known]) => known === kind)
      ? KIND_CHOICES
      : [...KIND_CHOICES, [kind, kindWords(kind)] as const];
  return (
    <FilterBar>
      <SourceChoice value={search.source_id} onChange={(source_id) => filter({ source_id })} />
      <Choice
        label={text.filter.kind}
        all={text.filter.allKinds}
        value={kind}
        choices={choices}
        onChange={(chosen) => filter({ kind: chosen })}
      />
      <PeriodChoice from={search.from} to={search.to} onChange={filter} />
    </FilterBar>
  );
}

const COLUMNS: Column<LogEvent>[] = [
  {
    header: text.list.columns.what,
    cell: (event) => (
      <Group gap={6} wrap="nowrap">
        <StatusMark status={markOf(event)} label="" />
        <Anchor
          inherit
          renderRoot={(props) => <Link to="/events/$eventId" params={{ eventId: event.id }} {...props} />}
        >
          {kindWords(event.kind)}
        </Anchor>
      </Group>
    ),
  },
  {
    header: text.list.columns.source,
    cell: ({ source_id }) => (source_id === undefined ? "" : <SourceName id={source_id} />),
  },
  { header: text.list.columns.actor, cell: ({ actor }) => <ActorView actor={actor} /> },
  { header: text.list.columns.when, cell: ({ occurred_at }) => <Age at={occurred_at} /> },
  { header: text.list.columns.index, numeric: true, cell: ({ log_index }) => log_index },
];

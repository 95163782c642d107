import { Anchor, Button, Group } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useOrgId } from "../../api/session.ts";
import { Age } from "../../parts/marks/age.tsx";
import { Choice, FilterBar, PeriodChoice } from "../../parts/records/filter-bar.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import { NoneFound, RecordList } from "../../parts/records/record-list.tsx";
import type { Column } from "../../parts/records/record-table.tsx";
import { SourceChoice, SourceName } from "../../parts/records/source-choice.tsx";
import { useFilter } from "../../parts/records/use-filter.ts";
import { receipts as text } from "../../text/receipts.ts";
import { type Receipt, receiptListQuery } from "./queries.ts";
import { ReceiptMark } from "./receipt-mark.tsx";
import { KINDS, type ReceiptSearch, RESULTS } from "./search-params.ts";

const route = getRouteApi("/signed-in/receipts");

export function ReceiptsPage() {
  const orgId = useOrgId();
  const search = route.useSearch();
  const list = useInfiniteQuery(receiptListQuery(orgId, search));
  return (
    <Page title={text.list.title} lead={text.list.lead} actions={<VerifyFile />}>
      <ReceiptFilters search={search} />
      <RecordList
        list={list}
        caption={text.list.title}
        columns={COLUMNS}
        empty={<NoneFound search={search} none={text.list.empty} noMatch={text.list.noMatch} />}
      />
    </Page>
  );
}

/** A full page load, because that page has its own Content-Security-Policy. */
function VerifyFile() {
  return (
    <Button component="a" href="/verify" variant="default">
      {text.list.verifyFile}
    </Button>
  );
}

function ReceiptFilters({ search }: { search: ReceiptSearch }) {
  const filter = useFilter(search);
  return (
    <FilterBar>
      <SourceChoice value={search.source_id} onChange={(source_id) => filter({ source_id })} />
      <Choice
        label={text.filter.kind}
        all={text.filter.allKinds}
        value={search.kind}
        choices={KINDS.map((kind) => [kind, text.kind[kind]] as const)}
        onChange={(kind) => filter({ kind })}
      />
      <Choice
        label={text.filter.result}
        all={text.filter.allResults}
        value={search.result}
        choices={RESULTS.map((result) => [result, text.result[result]] as const)}
        onChange={(result) => filter({ result })}
      />
      <PeriodChoice from={search.from} to={search.to} onChange={filter} />
    </FilterBar>
  );
}

const COLUMNS: Column<Receipt>[] = [
  {
    header: text.list.columns.what,
    cell: (receipt) => (
      <Group gap={6} wrap="nowrap">
        <ReceiptMark receipt={receipt} />
        <Anchor
          inherit
          renderRoot={(props) => (
            <Link to="/receipts/$receiptId" params={{ receiptId: receipt.id }} {...props} />
          )}
        >
          {text.what[receipt.result ?? "backup"]}
        </Anchor>
      </Group>
    ),
  },
  { header: text.list.columns.source, cell: ({ source_id }) => <SourceName id={source_id} /> },
  { header: text.list.columns.when, cell: ({ created_at }) => <Age at={created_at} /> },
  {
    header: text.list.columns.backup,
    cell: ({ backup_id }) => <RecordLink id={backup_id}>{`…${backup_id.slice(-6)}`}</RecordLink>,
  },
  { header: text.list.columns.index, numeric: true, cell: ({ log_index }) => log_index },
];

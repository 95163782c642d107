import { Anchor, Button, Group, Stack } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useOrgId } from "../../api/session.ts";
import { Age } from "../../parts/age.tsx";
import { Awaited } from "../../parts/awaited.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Choice, FilterBar, PeriodChoice } from "../../parts/filter-bar.tsx";
import { MoreButton } from "../../parts/more-button.tsx";
import { Page } from "../../parts/page.tsx";
import { RecordLink } from "../../parts/record-link.tsx";
import { type Column, RecordTable } from "../../parts/record-table.tsx";
import { SourceChoice, SourceName } from "../../parts/source-choice.tsx";
import { receipts as text } from "../../text/receipts.ts";
import { type Receipt, receiptListQuery } from "./queries.ts";
import { ReceiptMark } from "./receipt-mark.tsx";
import { KINDS, type ReceiptSearch, RESULTS } from "./search.ts";

const route = getRouteApi("/signed-in/receipts");

export function ReceiptsPage() {
  const orgId = useOrgId();
  const search = route.useSearch();
  const list = useInfiniteQuery(receiptListQuery(orgId, search));
  return (
    <Page title={text.list.title} lead={text.list.lead} actions={<VerifyFile />}>
      <ReceiptFilters search={search} />
      <Awaited query={list}>
        {({ pages }) => {
          const found = pages.flatMap(({ items }) => items);
          if (found.length === 0) return <NoReceipts isFiltered={Object.keys(search).length > 0} />;
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

/** By loading the page: it comes with a policy of its own. */
function VerifyFile() {
  return (
    <Button component="a" href="/verify" variant="default">
      {text.list.verifyFile}
    </Button>
  );
}

function ReceiptFilters({ search }: { search: ReceiptSearch }) {
  const navigate = route.useNavigate();
  const filter = (more: { [Name in keyof ReceiptSearch]?: ReceiptSearch[Name] | undefined }): void =>
    // What is undefined is left out of the address.
    void navigate({ search: { ...search, ...more } as ReceiptSearch, replace: true });
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

function NoReceipts({ isFiltered }: { isFiltered: boolean }) {
  if (!isFiltered) return <EmptyState>{text.list.empty}</EmptyState>;
  const all = (
    <Button variant="default" renderRoot={(props) => <Link to="/receipts" search={{}} {...props} />}>
      {text.list.clear}
    </Button>
  );
  return <EmptyState action={all}>{text.list.noMatch}</EmptyState>;
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

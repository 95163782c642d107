import { Button, Stack } from "@mantine/core";
import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import { Link, useRouterState } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ListPage } from "../../api/paged-query.ts";
import { useMe } from "../../api/session.ts";
import { strings } from "../../text/strings.ts";
import { QueryResult } from "../feedback/query-result.tsx";
import { EmptyState } from "../feedback/empty-state.tsx";
import { MoreButton } from "./more-button.tsx";
import { SteadyRows } from "./steady-rows.tsx";
import { TableSkeleton } from "../feedback/table-skeleton.tsx";
import { type Column, RecordTable } from "./record-table.tsx";

interface RecordListProps<Item> {
  list: UseInfiniteQueryResult<InfiniteData<ListPage<Item>>>;
  /** The table's accessible name. */
  caption: string;
  columns: readonly Column<Item>[];
  /** Shown if the list is empty. */
  empty: ReactNode;
}

/** A paged list: loading, failed, empty, or a table with a button for more. */
export function RecordList<Item extends { id: string }>({
  list,
  caption,
  columns,
  empty,
}: RecordListProps<Item>) {
  const search = useRouterState({ select: ({ location }) => location.href });
  return (
    <QueryResult query={list} skeleton={<TableSkeleton />}>
      {({ pages }) => {
        const found = pages.flatMap(({ items }) => items);
        if (found.length === 0) return empty;
        return (
          <Stack>
            <SteadyRows of={list.isPlaceholderData ? "other" : search}>
              <RecordTable caption={caption} columns={columns} rows={found} rowKey={({ id }) => id} />
            </SteadyRows>
            <MoreButton list={list} />
          </Stack>
        );
      }}
    </QueryResult>
  );
}

interface NoneFoundProps {
  /** The page's filter from the URL. */
  search: object;
  /** Says why the list is empty. */
  none: string;
  /** Says that nothing matches the filter. */
  noMatch: string;
}

/**
 * Replaces an empty filtered list: nothing exists, or nothing matches, with a button that clears
 * the filter.
 */
export function NoneFound({ search, none, noMatch }: NoneFoundProps) {
  const { org, user } = useMe();
  const hasSteps = org !== null && user.role !== "reader";
  if (Object.keys(search).length === 0)
    return <EmptyState action={hasSteps ? <NextLink /> : undefined}>{none}</EmptyState>;
  const all = (
    <Button variant="default" renderRoot={(props) => <Link to="." search={{}} {...props} />}>
      {strings.list.all}
    </Button>
  );
  return <EmptyState action={all}>{noMatch}</EmptyState>;
}

/** Home says what is missing. */
function NextLink() {
  return (
    <Button variant="default" renderRoot={(props) => <Link to="/" {...props} />}>
      {strings.empty.next}
    </Button>
  );
}

import { Button, Stack } from "@mantine/core";
import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ListPage } from "../api/paged-query.ts";
import { strings } from "../text/strings.ts";
import { Awaited } from "./awaited.tsx";
import { EmptyState } from "./empty-state.tsx";
import { MoreButton } from "./more-button.tsx";
import { type Column, RecordTable } from "./record-table.tsx";

interface RecordListProps<Item> {
  list: UseInfiniteQueryResult<InfiniteData<ListPage<Item>>>;
  /** What the table lists; read out as its name. */
  caption: string;
  columns: readonly Column<Item>[];
  /** In place of a list without anything in it. */
  empty: ReactNode;
}

/** A list that is read page by page: on its way, failed, empty, or as a table that goes on. */
export function RecordList<Item extends { id: string }>({
  list,
  caption,
  columns,
  empty,
}: RecordListProps<Item>) {
  return (
    <Awaited query={list}>
      {({ pages }) => {
        const found = pages.flatMap(({ items }) => items);
        if (found.length === 0) return empty;
        return (
          <Stack>
            <RecordTable caption={caption} columns={columns} rows={found} rowKey={({ id }) => id} />
            <MoreButton list={list} />
          </Stack>
        );
      }}
    </Awaited>
  );
}

interface NoneFoundProps {
  /** What the page is filtered by, as its address has it. */
  search: object;
  /** Why there is nothing at all. */
  none: string;
  /** That nothing matches the filter. */
  noMatch: string;
}

/** In place of a filtered list: nothing is there, or nothing matches, and then the way back to all. */
export function NoneFound({ search, none, noMatch }: NoneFoundProps) {
  if (Object.keys(search).length === 0) return <EmptyState>{none}</EmptyState>;
  const all = (
    <Button variant="default" renderRoot={(props) => <Link to="." search={{}} {...props} />}>
      {strings.list.all}
    </Button>
  );
  return <EmptyState action={all}>{noMatch}</EmptyState>;
}

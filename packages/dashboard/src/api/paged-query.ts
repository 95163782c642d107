import { infiniteQueryOptions, type QueryKey } from "@tanstack/react-query";
import { listInterval } from "./live.ts";

/** One page of a list, as the service gives it. */
export interface ListPage<Item> {
  items: Item[];
  next_cursor: string | null;
}

/** A paged list. Newer entries appear by themselves: see live.ts. */
export function pagedQuery<Page extends ListPage<unknown>>(
  queryKey: QueryKey,
  read: (cursor: string | undefined) => Promise<Page>,
) {
  return infiniteQueryOptions({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => read(pageParam),
    getNextPageParam: (last: Page) => last.next_cursor ?? undefined,
    refetchInterval: listInterval,
  });
}

const MAX_PAGES = 50;

/** A list that a page needs as a whole. */
export async function allPages<Item>(
  read: (cursor: string | undefined) => Promise<ListPage<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { items: more, next_cursor } = await read(cursor);
    items.push(...more);
    if (next_cursor === null) break;
    cursor = next_cursor;
  }
  return items;
}

/** Cursor and limit of a call, where there is a cursor. */
export function pageOf(cursor: string | undefined, limit = 50): { limit: string; cursor?: string } {
  return { limit: String(limit), ...(cursor === undefined ? {} : { cursor }) };
}

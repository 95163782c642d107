import { useState } from "react";

interface Kept<Item> {
  /** In the order first shown; new ones at the end. */
  ordered: readonly Item[];
  /** Whether the given order has changed since. */
  isOther: boolean;
  sortAgain: () => void;
}

/**
 * Keeps rows in place while somebody reads: rows update in place, and sort again only on request.
 */
export function useKeptOrder<Item extends { id: string }>(items: readonly Item[]): Kept<Item> {
  const [order, setOrder] = useState(() => items.map(({ id }) => id));
  const byId = new Map(items.map((item) => [item.id, item]));
  const known = new Set(order);
  const ordered = [...order.flatMap((id) => byId.get(id) ?? []), ...items.filter(({ id }) => !known.has(id))];
  return {
    ordered,
    isOther: ordered.some(({ id }, index) => items[index]?.id !== id),
    sortAgain: () => setOrder(items.map(({ id }) => id)),
  };
}

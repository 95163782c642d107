import { useState } from "react";

interface Kept<Item> {
  /** In the order in which they were first shown; new ones are last. */
  ordered: readonly Item[];
  /** The given order is another by now. */
  isOther: boolean;
  sortAgain: () => void;
}

/** Keeps rows where they are while somebody reads: what is new changes in its place, and the order when it is asked for. */
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

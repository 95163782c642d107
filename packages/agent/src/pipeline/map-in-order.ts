/**
 * Runs `work` on up to `width` items at once and yields the results in the order of the items.
 * No more than `width` items are taken ahead of the reader: that is the backpressure.
 */
export async function* mapInOrder<Item, Result>(
  items: AsyncIterable<Item>,
  width: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const running: Promise<Result>[] = [];
  try {
    for await (const item of items) {
      const result = work(item);
      // Its rejection is seen when its turn comes; until then it must not count as unhandled.
      result.catch(() => undefined);
      running.push(result);
      if (running.length >= width) {
        const first = running.shift();
        if (first !== undefined) yield await first;
      }
    }
    for (let first = running.shift(); first !== undefined; first = running.shift()) yield await first;
  } finally {
    // Work in the thread pool cannot be cancelled, and it still reads its buffers.
    await Promise.allSettled(running);
  }
}

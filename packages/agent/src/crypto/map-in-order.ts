interface Taken<Result> {
  readonly result: Promise<Result>;
}

/**
 * Runs `work` on up to `width` items at once and yields the results in the items' order.
 * At most `width` items are taken ahead of the reader: that is the backpressure. Up to that number
 * they are taken whatever the reader is doing: while it waits for the disk, the next ones are read
 * and processed.
 */
export async function* mapInOrder<Item, Result>(
  items: AsyncIterable<Item>,
  width: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const iterator = items[Symbol.asyncIterator]();
  const running = new Set<Promise<Result>>();
  let isOver = false;
  const begin = (item: Item): Taken<Result> => {
    const result = work(item);
    running.add(result);
    const end = (): void => void running.delete(result);
    // Its rejection is handled when its turn comes; until then it must not count as unhandled.
    result.then(end, end);
    return { result };
  };
  let last: Promise<Taken<Result> | null> | undefined;
  const take = (): Promise<Taken<Result> | null> => {
    const before = last ?? Promise.resolve();
    last = before.then(async () => {
      const { done, value } = await iterator.next();
      return done === true || isOver ? null : begin(value);
    });
    last.catch(() => undefined);
    return last;
  };
  try {
    const ahead = Array.from({ length: width }, take);
    for (;;) {
      const first = await ahead.shift();
      if (first === null || first === undefined) return;
      ahead.push(take());
      yield await first.result;
    }
  } finally {
    isOver = true;
    // A reader that has stopped does not wait for an item that may take long.
    iterator.return?.().catch(() => undefined);
    // Work in the thread pool can't be cancelled, and it still reads its buffers.
    await Promise.allSettled(running);
  }
}

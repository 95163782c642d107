import { expect, it } from "vitest";
import { mapInOrder } from "./map-in-order.ts";

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function* numbers(upTo: number, onTaken: (n: number) => void = () => undefined) {
  for (let n = 1; n <= upTo; n++) {
    onTaken(n);
    yield n;
  }
}

it("results come in the order of the items, whichever is ready first", async () => {
  const ready = new Map<number, () => void>();
  const results: number[] = [];
  const reading = (async () => {
    const work = (n: number) => new Promise<number>((resolve) => ready.set(n, () => resolve(n * 10)));
    for await (const result of mapInOrder(numbers(3), 3, work)) results.push(result);
  })();
  await settled();
  for (const n of [3, 2]) ready.get(n)?.();
  await settled();
  expect(results).toEqual([]);
  ready.get(1)?.();
  await reading;
  expect(results).toEqual([10, 20, 30]);
});

it("work goes on while the reader is busy, on no more items than the width", async () => {
  let taken = 0;
  const results = mapInOrder(
    numbers(100, (n) => (taken = n)),
    4,
    (n) => Promise.resolve(n),
  );
  expect(await results.next()).toEqual({ done: false, value: 1 });
  await settled();
  expect(taken).toBe(5);
  await settled();
  expect(taken).toBe(5);
  let count = 1;
  for await (const _ of results) count += 1;
  expect(count).toBe(100);
});

it("an error of the source or of the work comes after the results before it", async () => {
  async function* broken() {
    yield 1;
    yield 2;
    await settled();
    throw new Error("the source broke");
  }
  const seen: number[] = [];
  const read = async (items: AsyncIterable<number>, work: (n: number) => Promise<number>) => {
    for await (const result of mapInOrder(items, 8, work)) seen.push(result);
  };
  await expect(read(broken(), (n) => Promise.resolve(n))).rejects.toThrow("the source broke");
  expect(seen).toEqual([1, 2]);
  const third = (n: number) => (n === 3 ? Promise.reject(new Error("the work broke")) : Promise.resolve(n));
  await expect(read(numbers(9), third)).rejects.toThrow("the work broke");
  expect(seen).toEqual([1, 2, 1, 2]);
});

it("when the reader stops, work that has begun is waited for, an item still to come is not", async () => {
  let begun = 0;
  let ended = 0;
  async function* stalling() {
    yield 1;
    yield 2;
    await new Promise(() => undefined);
  }
  const work = async (n: number): Promise<number> => {
    begun += 1;
    await settled();
    await settled();
    ended += 1;
    return n;
  };
  for await (const result of mapInOrder(stalling(), 4, work)) {
    expect(result).toBe(1);
    break;
  }
  expect([begun, ended]).toEqual([2, 2]);
});

it("mapInOrder lets the source go when its reader stops", async () => {
  const closed = Promise.withResolvers<void>();
  async function* endless() {
    try {
      for (let n = 1; ; n++) yield n;
    } finally {
      closed.resolve();
    }
  }
  for await (const _ of mapInOrder(endless(), 2, (n) => Promise.resolve(n))) break;
  await closed.promise;
});

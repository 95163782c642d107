import { expect, test } from "vitest";
import { Gathered, type GatheredOptions } from "./gathered.ts";
import { DatabaseUnavailable } from "./unavailable.ts";

function gathered(options: Partial<GatheredOptions<number, string>> = {}): {
  batches: number[][];
  work: Gathered<number, string>;
} {
  const batches: number[][] = [];
  const work = new Gathered<number, string>({
    run: (items) => {
      batches.push([...items]);
      return Promise.resolve(items.map((item) => `did ${item}`));
    },
    wait_ms: 0,
    maxWeight: 100,
    ...options,
  });
  return { batches, work };
}

const all = (work: Gathered<number, string>, items: number[]): Promise<PromiseSettledResult<string>[]> =>
  Promise.allSettled(items.map((item) => work.do(item)));
const values = (results: PromiseSettledResult<string>[]): string[] =>
  results.map((result) => (result.status === "fulfilled" ? result.value : String(result.reason)));

test("what comes while a batch is in flight is the next batch, and each gets its own result", async () => {
  const { batches, work } = gathered();
  expect(values(await all(work, [1, 2, 3]))).toEqual(["did 1", "did 2", "did 3"]);
  expect(batches).toEqual([[1], [2, 3]]);
  expect(await work.do(4)).toBe("did 4");
});

test("the first of a batch waits for others where it is told to", async () => {
  const { batches, work } = gathered({ wait_ms: 1 });
  await all(work, [1, 2, 3]);
  expect(batches).toEqual([[1, 2, 3]]);
  await all(work, [4, 5]);
  expect(batches).toEqual([
    [1, 2, 3],
    [4, 5],
  ]);
});

test("a batch is bounded by weight, a single item may be heavier, and names are in it once", async () => {
  const { batches, work } = gathered({
    wait_ms: 1,
    maxWeight: 10,
    weightOf: (item) => item,
    nameOf: (item) => String(item % 7),
  });
  expect(values(await all(work, [50, 4, 5, 12, 2, 1]))).toHaveLength(6);
  expect(batches).toEqual([[50], [4, 5, 1], [12], [2]]);
});

test("nobody is answered before the statement has committed", async () => {
  let commit: () => void = () => undefined;
  const committed = new Promise<void>((resolve) => (commit = resolve));
  let answered = false;
  const { work } = gathered({ run: (items) => committed.then(() => items.map(String)) });
  const answer = work.do(1).then(() => (answered = true));
  await new Promise(setImmediate);
  expect(answered).toBe(false);
  commit();
  expect(await answer).toBe(true);
});

test("one that the database refuses fails alone, and one that is away fails all at once", async () => {
  const tried: number[][] = [];
  const refusing = gathered({
    wait_ms: 1,
    run: (items) => {
      tried.push([...items]);
      if (items.includes(2)) return Promise.reject(new Error("not 2"));
      return Promise.resolve(items.map((item) => `did ${item}`));
    },
  });
  expect(values(await all(refusing.work, [1, 2, 3]))).toEqual(["did 1", "Error: not 2", "did 3"]);
  expect(tried).toEqual([[1, 2, 3], [1], [2], [3]]);
  let runs = 0;
  const away = gathered({
    wait_ms: 1,
    run: () => {
      runs += 1;
      return Promise.reject(new DatabaseUnavailable(null, "away"));
    },
  });
  expect((await all(away.work, [1, 2, 3])).map(({ status }) => status)).toEqual([
    "rejected",
    "rejected",
    "rejected",
  ]);
  expect(runs).toBe(1);
});

import { expect, test } from "vitest";
import { ApiError } from "../../errors/api-error.ts";
import { ReadConcurrency } from "./read-concurrency.ts";

/** Takes a turn that lasts until it is ended. */
function reading(turns: ReadConcurrency, orgId: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const state = { began: false, end: resolve, done: Promise.resolve<unknown>(null) };
  state.done = turns
    .take(orgId, () => {
      state.began = true;
      return promise;
    })
    .catch((error: unknown) => error);
  return state;
}
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("an organisation with too many reads waits for its own, and is refused in the end; another one is answered", async () => {
  const turns = new ReadConcurrency();
  const greedy = Array.from({ length: 36 }, () => reading(turns, "org_greedy"));
  const other = reading(turns, "org_other");
  await settle();
  expect(greedy.filter(({ began }) => began)).toHaveLength(4);
  expect(other.began).toBe(true);
  const refused = await reading(turns, "org_greedy").done;
  expect(refused).toMatchObject({ code: "rate_limited", headers: { "retry-after": "1" } });
  expect(refused).toBeInstanceOf(ApiError);
  for (const one of greedy) one.end();
  await Promise.all(greedy.map(({ done }) => done));
  expect(greedy.every(({ began }) => began)).toBe(true);
  other.end();
});

test("all together have six turns, and a turn that ends in an error is free again", async () => {
  const turns = new ReadConcurrency();
  const some = ["a", "b", "c", "d"].flatMap((org) => [reading(turns, org), reading(turns, org)]);
  await settle();
  expect(some.filter(({ began }) => began)).toHaveLength(6);
  for (const one of some) one.end();
  await Promise.all(some.map(({ done }) => done));
  for (let n = 0; n < 10; n += 1)
    await expect(turns.take("a", () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(await turns.take("a", () => Promise.resolve("read"))).toBe("read");
});

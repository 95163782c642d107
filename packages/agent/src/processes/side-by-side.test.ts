import { expect, test } from "vitest";
import { sideBySide } from "./side-by-side.ts";

const { signal } = new AbortController();

test("all run at once, and the results keep their order", async () => {
  const second = Promise.withResolvers<string>();
  const results = sideBySide(signal, [
    () => second.promise,
    () => {
      second.resolve("the first waits for the second");
      return Promise.resolve(2);
    },
  ]);
  expect(await results).toEqual(["the first waits for the second", 2]);
});

test("the first error is thrown after all others have ended", async () => {
  const ended: string[] = [];
  const untilTold = (within: AbortSignal): Promise<never> =>
    new Promise((_, reject) => {
      within.addEventListener("abort", () => {
        ended.push("told");
        reject(new Error("interrupted"));
      });
    });
  const works = sideBySide(signal, [untilTold, () => Promise.reject(new Error("broken")), untilTold]);
  await expect(works).rejects.toThrow("broken");
  expect(ended).toEqual(["told", "told"]);
});

test("all end when the caller's signal fires", async () => {
  const stop = new AbortController();
  const untilTold = (within: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      within.addEventListener("abort", () => resolve());
    });
  const works = sideBySide(stop.signal, [untilTold, untilTold]);
  stop.abort();
  expect(await works).toEqual([undefined, undefined]);
});

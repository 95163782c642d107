import { expect, test } from "vitest";
import { cacheAnswer } from "./cached-answer.ts";

test("an answer that does not come in time is null, and nobody asks again meanwhile", async () => {
  let asked = 0;
  let answer: (text: string) => void = () => undefined;
  const look = cacheAnswer(
    () => {
      asked += 1;
      return new Promise<string>((resolve) => (answer = resolve));
    },
    { fresh_ms: 0, within_ms: 10 },
  );
  expect(await Promise.all([look(), look()])).toEqual([null, null]);
  expect(await look()).toBe(null);
  expect(asked).toBe(1);
  const waiting = look();
  answer("late");
  expect(await waiting).toBe("late");
  await expect.poll(() => look().then(() => asked)).toBe(2);
});

test("an answer is used again while it is fresh, and a failure is whoever's who asked", async () => {
  let asked = 0;
  const look = cacheAnswer(
    () => {
      asked += 1;
      return Promise.reject(new Error("not now"));
    },
    { fresh_ms: 60_000 },
  );
  await expect(look()).rejects.toThrow("not now");
  await expect(look()).rejects.toThrow("not now");
  expect(asked).toBe(1);
});

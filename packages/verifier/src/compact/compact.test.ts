import { expect, test } from "vitest";
import { GrowingNumbers, sortedNumbers } from "./growing-numbers.ts";
import { TextIndex } from "./text-index.ts";

test("an index by texts keeps the last number of each", () => {
  const index = new TextIndex();
  for (let n = 0; n < 5000; n += 1) index.set(`bkp_${n % 4000}`, n);
  expect(index.size).toBe(4000);
  for (let n = 0; n < 4000; n += 1) expect(index.get(`bkp_${n}`)).toBe(n < 1000 ? n + 4000 : n);
  expect([index.get("bkp_4000"), index.has(""), index.has("bkp_0")]).toEqual([undefined, false, true]);
  index.set("", 0);
  expect(index.get("")).toBe(0);
});

test.each([
  [GrowingNumbers.bytes(), 255],
  [GrowingNumbers.uint32(), 2 ** 32 - 1],
  [GrowingNumbers.float64(), 2 ** 53 - 1],
])("a growing list has what was put into it", (numbers, most) => {
  const put = Array.from({ length: 100 }, (_, n) => most - n);
  for (const number of put) numbers.push(number);
  expect([...numbers]).toEqual(put);
  expect([numbers.length, numbers.at(99), numbers.at(200)]).toEqual([100, most - 99, Number.NaN]);
});

test("numbers are sorted by what they stand for", () => {
  const texts = ["c", "a", "b"];
  expect([...sortedNumbers(3, (a, b) => ((texts[a] ?? "") < (texts[b] ?? "") ? -1 : 1))]).toEqual([1, 2, 0]);
});

import { expect, test } from "vitest";
import { countOf, dumpedIn, isWritten, linesOf } from "./dumped-line.ts";

const TIME = "2026-11-28T10:00:00.000+0000\tdone dumping ";

test.each([
  ["shop.orders (3 documents)", "shop.orders", 3n],
  ["shop.odd name (1 document)", "shop.odd name", 1n],
  // From 100.16 on.
  ["`shop.orders` (3 documents)", "shop.orders", 3n],
  ['`shop.it\'s "new" \\n` (0 documents)', 'shop.it\'s "new" \\n', 0n],
  ['"shop.a`b\\n\\"c\\\\\\u200b\\U000e0001\\x7f" (12 documents)', 'shop.a`b\n"c\\\u200b\u{e0001}\u007f', 12n],
])(
  "mongodump's line about a collection is read as old and new releases print it: %s",
  (said, name, documents) => {
    expect(dumpedIn(TIME + said)).toEqual({ name, documents });
  },
);

test("a name with line breaks is read whole, wherever the pieces of the output begin", async () => {
  const output = `${TIME}shop.a\nb\r\u2028c (1 document)\n2026-11-28T10:00:00.000+0000\tprogress\n${TIME}shop.d (2 documents)\n`;
  for (const size of [1, 7, output.length]) {
    async function* pieces(): AsyncGenerator<string> {
      for (let at = 0; at < output.length; at += size)
        yield await Promise.resolve(output.slice(at, at + size));
    }
    const found: unknown[] = [];
    for await (const line of linesOf(pieces())) {
      const dumped = dumpedIn(line);
      if (dumped !== null) found.push(dumped);
    }
    expect(found).toEqual([
      { name: "shop.a\nb\r\u2028c", documents: 1n },
      { name: "shop.d", documents: 2n },
    ]);
  }
});

test("other lines are none", () => {
  for (const line of [
    "writing `shop.orders` to `archive on stdout`",
    "done dumping shop.orders (3 documents)",
  ])
    expect(dumpedIn(line)).toBeNull();
});

test("a time series is dumped under the name of what the server keeps it in, and its documents are not counted", () => {
  const weather = { database: "shop", collection: "weather", isView: false, isTimeseries: true as const };
  const orders = { database: "shop", collection: "orders", isView: false };
  const before83 = new Map([
    ["shop.system.buckets.weather", 2n],
    ["shop.system.buckets.orders", 2n],
  ]);
  const since83 = new Map([["shop.weather", 2n]]);
  for (const written of [before83, since83]) {
    expect(isWritten(weather, written)).toBe(true);
    expect(isWritten(orders, written)).toBe(false);
    expect(countOf(weather, written)).toEqual({ name: "shop.weather" });
  }
  expect(isWritten(weather, new Map())).toBe(false);
  expect(countOf(orders, new Map([["shop.orders", 3n]]))).toEqual({ name: "shop.orders", rows: 3n });
});

import { expect, test } from "vitest";
import { back, server, testIt, useShopOnMariadb } from "./shop-on-mariadb.ts";

useShopOnMariadb();

test("rows that are written meanwhile cause no false alarm", async () => {
  const stop = new AbortController();
  const writer = (async () => {
    while (!stop.signal.aborted) {
      server.sql("insert into shop.items select id, 9 from shop.orders limit 50");
      await new Promise(setImmediate);
    }
  })();
  const made = await back();
  stop.abort();
  await writer;
  const tested = await testIt([], { made, metadata: made.sourceMetadata });
  server.sql(`delete from shop.items where n = 9`);
  expect(tested.reason).toBeUndefined();
  expect(tested.result).toBe("passed");
});

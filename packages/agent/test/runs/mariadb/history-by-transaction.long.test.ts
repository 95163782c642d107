import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testBackup } from "../back-and-test.ts";
import { back, place, server, useShopOnMariadb } from "./shop-on-mariadb.ts";

useShopOnMariadb();

const DOC = join(import.meta.dirname, "../../../../../docs/engines.md");

test("a table whose history is by transaction is refused, and passes once its history is by time, as the page says", async () => {
  if (server.product === "MySQL") return;
  server.sql(`create table shop.prices (id int primary key, price int, since bigint unsigned generated always as row start, until bigint unsigned generated always as row end,
      period for system_time (since, until)) with system versioning;
    insert into shop.prices (id, price) values (1, 10), (2, 20); update shop.prices set price = 11 where id = 1; delete from shop.prices where id = 2`);
  try {
    await expect(back()).rejects.toMatchObject({
      code: "dump_failed",
      message: expect.stringMatching(
        /^shop\.prices keeps earlier versions of rows by transaction .*History by transaction/,
      ) as string,
    });
    const [, after = ""] = readFileSync(DOC, "utf8").split("**History by transaction.**");
    const [, statements = ""] = /```sql\n([^`]*)```/.exec(after) ?? [];
    expect(statements).toContain("rename table");
    server.sql(statements);
    expect(
      server.sql("select id, price from shop.prices for system_time all order by id, price").trim(),
    ).toBe("1\t10\n1\t11\n2\t20");
    expect(server.sql("select id, price from shop.prices").trim()).toBe("1\t11");
    const made = await back();
    const tested = await testBackup(place, server.source, made);
    expect(tested.reason).toBeUndefined();
    expect(JSON.stringify(made.sourceMetadata)).toContain("shop.prices (history)");
  } finally {
    server.sql("drop table if exists shop.prices, shop.by_time, shop.by_transaction");
  }
});

import { expect, test } from "vitest";
import { back, server, useShopOnMariadb } from "./shop-on-mariadb.ts";

useShopOnMariadb();

test("the schema's hash follows the schema, not the data", async () => {
  const hash = async (): Promise<string> => (await back()).sourceMetadata.schema_hash;
  const before = await hash();
  server.sql(
    "use shop; insert into items values (1, 1); delete from items where order_id = 1 and n = 1 limit 1",
  );
  expect(await hash()).toBe(before);
  for (const [change, undo] of [
    ["alter table orders add column extra int", "alter table orders drop column extra"],
    ["create index late on orders (price)", "drop index late on orders"],
    [
      "alter table orders modify padded int(9) zerofill default 42",
      "alter table orders modify padded int(8) zerofill default 42",
    ],
    [
      "drop trigger no_negatives",
      "create trigger no_negatives before insert on items for each row set new.n = abs(new.n)",
    ],
  ] as const) {
    server.sql(`use shop; ${change}`);
    expect(await hash(), change).not.toBe(before);
    server.sql(`use shop; ${undo}`);
    expect(await hash(), undo).toBe(before);
  }
});

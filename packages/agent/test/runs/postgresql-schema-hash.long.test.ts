import { expect, test } from "vitest";
import { postgresql } from "../../src/engines/postgresql/index.ts";
import { never, place, server, useShopOnPostgres } from "./shop-on-postgres.ts";

useShopOnPostgres();

test("the schema's hash follows the schema, not the data", async () => {
  const hash = async (): Promise<string> => {
    const dump = await postgresql.dump(server.source, { scratchDir: place.scratch, signal: never });
    try {
      for await (const _ of dump.content);
      return (await dump.metadata()).schema_hash;
    } finally {
      await dump.close();
    }
  };
  const before = await hash();
  server.sql("insert into orders (status) values ('shipped')");
  expect(await hash()).toBe(before);
  for (const [change, undo] of [
    ["alter table orders add column extra int", "alter table orders drop column extra"],
    ["create index orders_note on orders (note)", "drop index orders_note"],
    ["alter table orders alter mood set not null", "alter table orders alter mood drop not null"],
    ["alter table orders alter status type varchar(21)", "alter table orders alter status type varchar(20)"],
    ["alter type mood rename value 'low' to 'lower'", "alter type mood rename value 'lower' to 'low'"],
    ["alter table orders alter note set default 'x'", "alter table orders alter note drop default"],
  ] as const) {
    server.sql("drop view paid");
    server.sql(change);
    expect(await hash(), change).not.toBe(before);
    server.sql(undo);
    server.sql("create view paid as select id, price from orders where status = 'paid'");
    expect(await hash(), undo).toBe(before);
  }
  server.sql("delete from orders where status = 'shipped'");
});

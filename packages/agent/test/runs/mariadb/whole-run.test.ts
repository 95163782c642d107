import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { expect, test } from "vitest";
import { writeConnectionFile } from "../../../src/engines/mariadb/connection/connection.ts";
import { mariadb } from "../../../src/engines/mariadb/index.ts";
import {
  back,
  backup,
  never,
  nothingLeft,
  PASSWORD,
  place,
  ROWS,
  server,
  testIt,
  useShopOnMariadb,
} from "./shop-on-mariadb.ts";

useShopOnMariadb();

test("the metadata describe the dump, and have no row of it", () => {
  expect(backup.sourceMetadata).toMatchObject({
    engine: server.source.engine,
    engine_version: expect.stringMatching(
      server.product === "MySQL" ? /^[89]\.[0-9]+\.[0-9]+/ : /^1[01]\.[0-9]+\.[0-9]+-MariaDB/,
    ),
    dump_format: "mysqldump-sql",
    schema_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    databases: ["shop"],
    table_count: 4,
    non_transactional_tables: 1,
  });
  const tables = backup.sourceMetadata["tables"] as { name: string; rows?: number; rows_at_least?: number }[];
  expect(
    Object.fromEntries(tables.map(({ name, rows, rows_at_least }) => [name, rows ?? rows_at_least])),
  ).toEqual({
    "shop.orders": ROWS,
    "shop.items": ROWS,
    "shop.years": 0,
    // Without transactions, and yet known: the rows in the dump were counted.
    "shop.old_fashioned": 4,
  });
  const summary = JSON.stringify(backup.sourceMetadata["schema_summary"]);
  expect(summary).toContain(`"column price":"0003 decimal(12,2) not null"`);
  expect(summary).toContain("twice");
  expect(JSON.stringify(backup.sourceMetadata)).not.toContain("secret note");
});

test("a restore test passes if the schema and every count are the same", async () => {
  const tested = await testIt([
    {
      id: "sum",
      query:
        "select sum(price) as total, max(padded) as padded, max(flag) as flag, hex(max(photo)) as photo from orders; ",
      expect: `total = ${(ROWS * (ROWS + 1)) / 2} and padded = 42 and flag = 5 and photo = '00FF0D0A5C27'`,
    },
    {
      id: "text",
      query: "select note from orders where id = 1 -- a comment",
      expect: `note = 'secret note 1 "\n\t\\ it''s ü€😀'`,
    },
    {
      id: "defined",
      query: "select twice(21) as n, (select count(*) from paid) as m",
      expect: `n = 42 and m = ${ROWS}`,
    },
    { id: "other-db", query: "select count(*) as n from shop.years", expect: "n = 0" },
  ]);
  expect(tested.reason).toBeUndefined();
  expect(tested).toMatchObject({
    result: "passed",
    runtime: { kind: "process", engine: server.source.engine },
  });
  expect(tested.checks.map(({ id, result }) => `${id} ${result}`).toSorted()).toEqual([
    "defined passed",
    "inferred:content passed",
    "inferred:foreign_keys passed",
    "inferred:kinds passed",
    "inferred:objects passed",
    "inferred:rows:shop.items passed",
    "inferred:rows:shop.old_fashioned passed",
    "inferred:rows:shop.orders passed",
    "inferred:rows:shop.years passed",
    "inferred:schema passed",
    "inferred:tables passed",
    "other-db passed",
    "sum passed",
    "text passed",
  ]);
  nothingLeft();
});

test("all databases at once, odd names too", async () => {
  const made = await back({ databases: "all" });
  // The connection's own is first, and checks run in it.
  expect(made.sourceMetadata["databases"]).toEqual(["shop", "od-d `name"]);
  const tested = await testIt(
    [{ id: "own", query: "select count(*) as n from orders", expect: `n = ${ROWS}` }],
    { made, metadata: made.sourceMetadata },
  );
  expect(tested.reason).toBeUndefined();
  expect(tested.checks.map(({ id }) => id)).toContain("inferred:rows:`od-d ``name`.`we;ird``t`");
});

test("a password of any characters is passed in a file that only we can read, and is in no argument list", async () => {
  process.env["TEST_OTHER_MARIADB_URL"] = server.url("special", PASSWORD);
  const connection = { kind: "env", name: "TEST_OTHER_MARIADB_URL" } as const;
  const file = await writeConnectionFile(connection, place.scratch);
  expect(statSync(file.path).mode & 0o777).toBe(0o600);
  await file.remove();
  const seen: string[] = [];
  const dump = await mariadb.dump(
    { ...server.source, connection },
    { scratchDir: place.scratch, signal: never },
  );
  try {
    seen.push(execFileSync("ps", ["axww", "-o", "args"], { encoding: "utf8" }));
    for await (const _ of dump.content);
    expect(await dump.metadata()).toMatchObject({ databases: ["shop"] });
  } finally {
    await dump.close();
  }
  expect(seen[0]).toContain("--single-transaction");
  expect(seen[0]).not.toContain("a\"b'c");
  nothingLeft();
});

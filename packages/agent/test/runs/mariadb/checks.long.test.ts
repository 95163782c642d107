import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import type { CheckConfig } from "../../../src/config/source-config.ts";
import { mariadb } from "../../../src/engines/mariadb/index.ts";
import {
  back,
  never,
  nothingLeft,
  place,
  ROWS,
  server,
  testIt,
  useShopOnMariadb,
} from "./shop-on-mariadb.ts";

useShopOnMariadb();

test("a check that looks into no table has read no data, and a database without one proves nothing", async () => {
  const looking: CheckConfig[] = [
    { id: "constant", query: "select 1 as n", expect: "n = 1" },
    {
      id: "catalogue",
      query: "select count(*) >= 0 as n from information_schema.tables",
      expect: "n = 1",
    },
  ];
  server.sql("create database hollow");
  try {
    const made = await back({ databases: ["hollow"] });
    expect(await testIt(looking, { made, metadata: made.sourceMetadata })).toMatchObject({
      result: "failed",
      reason: "no check read any data",
    });
  } finally {
    server.sql("drop database hollow");
  }
  // By a view, in the shadow of others: it is the query's own tables that count.
  const through: CheckConfig = { id: "view", query: "select count(*) as n from paid", expect: `n = ${ROWS}` };
  expect((await testIt([through, ...looking], { metadata: { tables: [] } })).result).toBe("passed");
  expect((await testIt(looking, { metadata: { tables: [] } })).reason).toBe("no check read any data");
});

test("a check does not hold with no row, several, NULL, a mistake, a second statement, a shell, an attempt to write, two of one name", async () => {
  const check = (id: string, query: string, expectation = "n = 1"): CheckConfig => ({
    id,
    query,
    expect: expectation,
  });
  const tested = await testIt([
    check("none", "select 1 as n from dual where false"),
    check("several", "select id as n from orders", "n >= 1"),
    check("null", "select null as n", "n >= 0"),
    check("mistake", "select n from nowhere"),
    check("second", "select 1 as n; drop table orders"),
    check("second-in-view", "select 1 as n) q; drop table orders; select * from (select 1 as n"),
    check("shell", "select 1 as n \\! touch /tmp/attestore-was-here"),
    check("outfile", "select 1 as n into outfile '/tmp/attestore-was-here'"),
    check("twice", "select 1 as n, 2 as n"),
    check("holds", "select count(*) as n from orders", `n = ${ROWS}`),
  ]);
  expect(tested.result).toBe("failed");
  expect(
    tested.checks
      .filter(({ id, result }) => !id.startsWith("inferred:") && result === "passed")
      .map(({ id }) => id),
  ).toEqual(["holds"]);
  expect(existsSync("/tmp/attestore-was-here")).toBe(false);
});

test("a query that takes too long fails, because a hostile dump must not be able to prevent a result", async () => {
  const { result, checks } = await testIt([{ id: "slow", query: "select sleep(60) as n", expect: "n = 0" }], {
    timeout_s: 1,
  });
  expect(result).toBe("failed");
  expect(checks.find(({ id }) => id === "slow")?.observed).toEqual({
    error:
      "the query did not end within 1 s: give the source's checks more time (check_timeout_s in config.yaml) or make it cheaper",
  });
  nothingLeft();
});

test("proposed checks of the newest row's age and of a ratio hold, notice ruined data, and pass a restore test", async () => {
  const digits =
    "(select 0 n union select 1 union select 2 union select 3 union select 4 union select 5 union select 6 union select 7 union select 8 union select 9)";
  const hundred = `(select a.n + 10 * b.n as i from ${digits} a, ${digits} b) q`;
  server.sql(`create database lively; use lively;
    create table \`or ders\` (id int primary key, \`placed at\` timestamp(3) null, due datetime);
    insert into \`or ders\` select i, now(3) - interval i * 5 hour, now() + interval 9 day from ${hundred};
    create table drafts (order_id int, foreign key (order_id) references \`or ders\` (id));
    create table details (order_id int not null, imported datetime default '2020-01-01', foreign key (order_id) references \`or ders\` (id));
    insert into details (order_id) select i from ${hundred}; insert into details (order_id) select i from ${hundred};`);
  const source = { ...server.source, databases: ["lively"] };
  const propose = async (): Promise<unknown> =>
    mariadb.propose?.(source, { scratchDir: place.scratch, signal: never });
  try {
    for (const [type, limit] of [
      ["timestamp(3) null", "age(newest) < 3d"],
      ["datetime", "age(newest) < 4d"],
    ] as const) {
      server.sql(`alter table lively.\`or ders\` modify \`placed at\` ${type}`);
      const proposed = (await propose()) as { checks: CheckConfig[] };
      expect(proposed.checks).toMatchObject([
        { id: "fresh-or-ders", expect: limit },
        { id: "ratio-details-or-ders", expect: "ratio >= 1" },
      ]);
      const made = await back({ databases: ["lively"] });
      const tested = await testIt(proposed.checks, { made, metadata: made.sourceMetadata });
      expect(tested.result, tested.reason).toBe("passed");
      const empty = "an empty lively.`or ders`";
      const column = "lively.`or ders`.placed at";
      const controls = tested.checks.filter(({ negative_control: control }) => control !== undefined);
      expect(
        controls.map(({ id, negative_control: control }) => [id, control?.noticed, control?.not_noticed]),
      ).toEqual([
        ["fresh-or-ders", [empty, `${column} null in every row`, `${column} a year older`], []],
        ["ratio-details-or-ders", ["an empty lively.details", empty], []],
      ]);
    }
    server.sql(
      "update lively.`or ders` set `placed at` = now() + interval 1 year where id = 7; delete from lively.details where order_id > 5",
    );
    expect(await propose()).toMatchObject({
      checks: [],
      notProposed: expect.arrayContaining([
        { id: "the age of lively.`or ders`.`placed at`", why: "it has times in the future" },
        { id: "lively.details for each of lively.`or ders`", why: "there are too few rows" },
      ]),
    });
  } finally {
    server.sql("drop database lively");
  }
  nothingLeft();
});

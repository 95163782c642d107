import { expect, test } from "vitest";
import {
  back,
  failedOf,
  kindsOf,
  postgres,
  run,
  source,
  testIt,
  useDumpsDirectory,
} from "./dumps-directory.ts";

useDumpsDirectory();

test("an SQLite file without its indexes and triggers does not pass, one without half of them does", async () => {
  const schema = (...more: string[]): Buffer =>
    run(
      `rm -f a.db; sqlite3 a.db "create table t (a, b); insert into t values (1, 2); ${more.map((each) => `${each};`).join("")}"`,
    );
  const [byA, byB] = ["create index a on t (a)", "create index b on t (b)"];
  const trigger = "create trigger c after delete on t begin select 1; end";
  schema(byA, byB, trigger);
  const passed = await testIt(source(), await back(source()));
  expect(kindsOf(passed)).toMatchObject({ result: "passed", observed: { indexes: 2, triggers: 1 } });
  schema(byB, trigger);
  expect((await testIt(source(), await back(source()), passed)).result).toBe("passed");
  for (const [left, lost] of [
    [[byA, byB], "triggers 0 of"],
    [[trigger], "indexes 0 of"],
    [[], "saw: indexes 0 of 2, triggers 0 of"],
  ] as const) {
    schema(...left);
    const tested = await testIt(source(), await back(source()), passed);
    expect(failedOf(tested)).toEqual(["inferred:kinds"]);
    expect(tested.reason).toContain(lost);
  }
});

test("of more tables than a receipt names, a small one that is gone or empty does not pass", async () => {
  const tables = Array.from({ length: 320 }, (_, at) => `t${at}`);
  const made = (change = ""): Buffer =>
    run(
      `rm -f a.db; sqlite3 a.db "begin; ${tables.map((name, at) => `create table ${name} (a); insert into ${name} values (1)${at < 300 ? ", (2)" : ""};`).join("")} commit; ${change}"`,
    );
  made();
  const passed = await testIt(source(), await back(source()));
  expect(passed.reason).toBeUndefined();
  expect(passed.unnamed?.size).toBe(20);
  expect(passed.checks.filter(({ id }) => id.startsWith("inferred:rows:"))).toHaveLength(300);
  const [gone, empty] = [...(passed.unnamed?.keys() ?? [])];
  made(`drop table ${gone}; delete from ${empty};`);
  const lost = await testIt(source(), await back(source()), passed);
  expect(failedOf(lost)).toEqual(["inferred:kept", `inferred:rows:${empty}`, "inferred:total"]);
});

test("a table emptied since the last pass, a table gone, and a database without a row do not pass", async () => {
  run("pg_dump -Fc -f a.dump postgres");
  const passed = await testIt(source(), await back(source()));
  expect(passed.result).toBe("passed");
  postgres.sql("create database later template postgres");
  const env = { PGDATABASE: "later" };
  run("psql -Xqc 'truncate orders'; pg_dump -Fc -f a.dump", env);
  const emptied = await testIt(source(), await back(source()), passed);
  expect(emptied.checks.filter(({ result }) => result === "failed").map(({ id }) => id)).toEqual([
    "inferred:rows:public.orders",
    "inferred:total",
  ]);
  run("psql -Xqc 'drop table orders'; pg_dump -Fc -f a.dump", env);
  const gone = await testIt(source(), await back(source()), passed);
  // Its key went with it.
  expect(failedOf(gone)).toEqual(["inferred:kept", "inferred:total", "inferred:kinds"]);
  run("psql -Xqc 'truncate tags'; pg_dump -Fc -f a.dump", env);
  const nothing = await testIt(source(), await back(source()));
  expect(nothing.checks.filter(({ result }) => result === "failed").map(({ id }) => id)).toEqual([
    "inferred:data",
  ]);
});

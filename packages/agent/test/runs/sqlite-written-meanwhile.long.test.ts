import { spawn } from "node:child_process";
import { once } from "node:events";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { back, source, testIt, useShopOnSqlite } from "./shop-on-sqlite.ts";

useShopOnSqlite();

test.each([
  ["wal", 3],
  ["delete", 1],
] as const)("what somebody writes meanwhile makes no half of a transaction: %s", async (mode, rounds) => {
  const database = new DatabaseSync(source.path);
  database.exec(`pragma journal_mode = ${mode}; create table a (n); create table b (n)`);
  database.close();
  const script = `
    import { DatabaseSync } from "node:sqlite";
    const database = new DatabaseSync(${JSON.stringify(source.path)}, { timeout: 10_000 });
    process.stdout.write("ready\\n");
    for (let i = 0; ; i++) database.exec("begin; insert into a values (" + i + "); insert into b values (" + i + "); commit");`;
  const writer = spawn(process.execPath, ["--no-warnings", "--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(writer.stdout, "data");
  try {
    for (let round = 0; round < rounds; round++) {
      const made = await back();
      const tested = await testIt(made, [
        {
          id: "same",
          query: "select (select count(*) from a) = (select count(*) from b) as same",
          expect: "same = 1",
        },
      ]);
      expect(tested.reason).toBeUndefined();
      // Without WAL there may be no time in which nobody writes.
      const content = tested.checks.find(({ id }) => id === "inferred:content");
      if (mode === "wal") expect(content?.observed).toMatchObject({ tables: 4, differing: 0 });
    }
  } finally {
    writer.kill("SIGKILL");
    await once(writer, "close");
  }
});

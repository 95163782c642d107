import { expect, test } from "vitest";
import { cells } from "./protocol.ts";
import { SqliteProcess } from "./sqlite-process.ts";

const ENDLESS =
  "with recursive numbers (i) as (select 1 union all select i + 1 from numbers) select count(*) from numbers";

test("simultaneous requests get their own answers, also beside one that is killed", async () => {
  const sqlite = new SqliteProcess(new AbortController().signal);
  const ask = async (sql: string, timeout_s?: number): Promise<string | null> => {
    const response = await sqlite.request({ op: "list", path: ":memory:", sql }, timeout_s);
    return response?.ok === true ? (cells(response)[0]?.[0] ?? "") : null;
  };
  try {
    expect(
      await Promise.all([
        ask("select 1"),
        ask("not sql"),
        ask("select 2", 60),
        ask(ENDLESS, 0.5),
        ask("select 3"),
      ]),
    ).toEqual(["1", null, "2", null, "3"]);
  } finally {
    await sqlite.close();
  }
});

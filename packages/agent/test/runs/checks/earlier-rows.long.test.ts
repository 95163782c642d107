import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { EarlierTests } from "../../../src/checks/index.ts";
import { parseSourceConfig, type SourceConfig } from "../../../src/config/source-config.ts";
import { restoreAndCheck, type RestoreTestResult } from "../../../src/runs/restore-and-check.ts";
import type { MadeBackup } from "../../../src/runs/write-encrypted-dump.ts";
import { backUp } from "../back-and-test.ts";
import { seenIn } from "../earlier-tests-in.ts";
import { named, place, server, useCheckedCopies, backupOf, SOURCES } from "./checked-copies.ts";

const never = new AbortController().signal;

useCheckedCopies();

test.each([
  [3, [], "passed", "rows = 2 and rows >= 2"],
  [5, [], "failed", "rows = 2 and rows >= 3"],
  [999, [], "failed", "rows = 2 and rows >= 500"],
  [999, ["kv"], "passed", "rows = 2"],
] as const)(
  "with %i rows in an earlier pass, and %j that may shrink: %s",
  async (rows, mayShrink, result, expectation) => {
    const source = parseSourceConfig("kv", SOURCES["kv"], place.dir);
    const seen = seenIn([{ id: "inferred:rows:kv", observed: { rows } }], mayShrink);
    const tested = await testOf(source, await backupOf(source), seen);
    expect(tested.result).toBe(result);
    expect(named(tested, "inferred:rows:kv")).toMatchObject({ expectation, observed: { rows: 2 }, result });
  },
);

const TABLES = 320;
const many = Array.from({ length: TABLES }, (_, index) => `t${String(index).padStart(3, "0")}`);
const COUNTS = {
  tables: TABLES,
  counted: TABLES,
  budget_s: 60,
  rest: { tables: 20, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
};

test.each([
  ["sqlite", ""],
  ["postgresql", "public."],
] as const)("%s: every table counts, however many there are and however small", async (engine, schema) => {
  const sql = (text: string): void => {
    if (engine === "postgresql") return void server.sql(`\\connect many\n${text}`);
    const database = new DatabaseSync(join(place.dir, "many.db"));
    database.exec(text);
    database.close();
  };
  if (engine === "postgresql") {
    server.sql("create database many");
    process.env["TEST_MANY_URL"] = server.url("attestore", "", "many");
  }
  sql(
    `begin; ${many.map((name, index) => `create table ${name} (a int); insert into ${name} values (1)${index < 5 ? ", (2)" : ""};`).join("")} commit`,
  );
  const source = parseSourceConfig(
    "many",
    engine === "sqlite" ? { engine, path: "many.db" } : { engine, connection: "env:TEST_MANY_URL" },
    place.dir,
  );
  const whole = await newBackup(source);
  expect(whole.sourceMetadata).toMatchObject({ table_count: TABLES, row_counts: COUNTS });
  const passed = await testOf(source, whole);
  expect(passed.reason).toBeUndefined();
  expect(passed.checks.filter(({ id }) => id.startsWith("inferred:rows:"))).toHaveLength(300);
  expect(named(passed, "inferred:rest").observed).toMatchObject({ tables: 20, rows: 20, filled: 20 });
  expect(named(passed, "inferred:tables").observed).not.toHaveProperty("not_counted");
  const last = seenIn(passed.checks);
  expect((await testOf(source, whole, last)).result).toBe("passed");

  // One table that no metadata name is emptied: as the backup says, and yet not as it was.
  const unnamed = many.find(
    (name) => !passed.checks.some(({ id }) => id === `inferred:rows:${schema}${name}`),
  );
  sql(`delete from ${unnamed}`);
  const emptied = await newBackup(source);
  expect((await testOf(source, emptied)).result).toBe("passed");
  const noticed = await testOf(source, emptied, last);
  expect(noticed).toMatchObject({ result: "failed", reason: expect.stringContaining("inferred:total") });
  expect(named(noticed, "inferred:total")).toMatchObject({ observed: { filled: TABLES - 1 } });
  // And a dump that holds less than was counted for it.
  const less = await testOf(source, {
    ...emptied,
    sourceMetadata: {
      ...whole.sourceMetadata,
      plaintext_size_bytes: emptied.sourceMetadata["plaintext_size_bytes"],
    },
  });
  expect(named(less, "inferred:rest")).toMatchObject({ result: "failed" });

  // Every table is dropped: the checks of what there is would have nothing to say.
  sql(
    many
      .slice(1)
      .map((name) => `drop table ${name};`)
      .join(""),
  );
  const dropped = await testOf(source, await newBackup(source), last);
  expect(named(dropped, "inferred:total")).toMatchObject({
    expectation: `rows >= ${Math.floor((TABLES + 5) / 2) + 1} and filled >= 1`,
    observed: { tables: 1, rows: 2, filled: 1 },
    result: "failed",
  });
  sql(`drop table ${many[0]}`);
  const gone = await testOf(source, await newBackup(source), last);
  expect(named(gone, "inferred:total")).toMatchObject({
    observed: { tables: 0, rows: 0 },
    result: "failed",
  });
  // Seven restores of 320 tables.
});

test("tables that the backup did not count are counted in the copy; tables that nobody can name are not", async () => {
  const source = parseSourceConfig("kv", SOURCES["kv"], place.dir);
  const backup = await backupOf(source);
  const sourceMetadata = {
    ...backup.sourceMetadata,
    tables: [{ name: "kv" }],
    table_count: 4,
    row_counts: null,
  };
  const tested = await testOf(source, { ...backup, sourceMetadata });
  expect(named(tested, "inferred:rows:kv")).toMatchObject({
    expectation: "rows >= 0",
    observed: { rows: 2 },
  });
  expect(named(tested, "inferred:tables").observed).toEqual({ tables: 1, missing: 0, not_counted: 3 });
});

const newBackup = (source: SourceConfig): Promise<MadeBackup> => backUp(place, source);

const testOf = (source: SourceConfig, backup: MadeBackup, seen?: EarlierTests): Promise<RestoreTestResult> =>
  restoreAndCheck({
    source,
    ciphertext: { path: backup.path },
    sha256: backup.sha256,
    identities: [place.identity],
    scratchDir: place.scratch,
    backupMetadata: JSON.parse(JSON.stringify(backup.sourceMetadata)) as MadeBackup["sourceMetadata"],
    ...(seen === undefined ? {} : { seen }),
    signal: never,
  });

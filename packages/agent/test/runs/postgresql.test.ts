import { createHash } from "node:crypto";
import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { SourceMetadata } from "../../src/engines/engine.ts";
import { readCiphertext } from "../../src/crypto/ciphertext.ts";
import { unseal } from "../../src/crypto/unseal.ts";
import type { CheckConfig, SourceConfigOf } from "../../src/config/source-config.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { reseal, type Resealed } from "./scratch.ts";
import { backup, nothingLeft, place, ROWS, server, useShopOnPostgres } from "./shop-on-postgres.ts";

useShopOnPostgres();

async function testIt(
  checks: CheckConfig[] = [],
  more: {
    metadata?: Record<string, unknown>;
    made?: Resealed;
    source?: Partial<SourceConfigOf<"postgresql">>;
  } = {},
): Promise<RestoreTestResult> {
  const made = more.made ?? backup;
  return testBackup(place, { ...server.source, checks, ...more.source }, backup, {
    instead: made,
    metadata: more.metadata,
  });
}

test("the metadata describe the dump", () => {
  const metadata = backup.sourceMetadata as SourceMetadata & { tables: { name: string; rows: number }[] };
  expect(metadata).toMatchObject({
    engine: "postgresql",
    engine_version: expect.stringMatching(/^[0-9]+\.[0-9]+$/),
    dump_format: "pg_dump-custom",
    schema_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    exact_schema_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    encoding: "UTF8",
    named_roles: ["seller"],
    table_count: 3,
  });
  expect(metadata.tables[0]).toMatchObject({ name: "public.orders", rows: ROWS });
  expect(Object.fromEntries(metadata.tables.map(({ name, rows }) => [name, rows]))).toEqual({
    "public.orders": ROWS,
    "public.events_2026": 2,
    [`"Sales"."we ""ird:name"`]: 0,
  });
  expect(JSON.stringify(metadata)).not.toContain("secret note");
});

test("a restore test passes if the schema and every count are the same", async () => {
  const tested = await testIt([
    {
      id: "sum",
      query: "select sum(price) as total, max(id)::numeric * 10^20 as large from orders; ",
      expect: `total = ${(ROWS * (ROWS + 1)) / 2} and large = ${ROWS}00000000000000000000`,
    },
    {
      id: "newest",
      query:
        "select max(placed_at at time zone 'UTC') as at, bool_and(note is not null) as noted from orders -- a comment",
      expect: "at >= '2026-01-02T01' and noted",
    },
  ]);
  expect(tested.reason).toBeUndefined();
  expect(tested.result).toBe("passed");
  expect(tested.runtime).toMatchObject({ kind: "process", engine: "postgresql" });
  expect(tested.checks.every(({ result }) => result === "passed")).toBe(true);
  expect(tested.checks.map(({ id }) => id).toSorted()).toEqual([
    "inferred:content",
    "inferred:foreign_keys",
    "inferred:indexes",
    "inferred:kinds",
    "inferred:objects",
    "inferred:privileges",
    `inferred:rows:"Sales"."we ""ird:name"`,
    "inferred:rows:public.events_2026",
    "inferred:rows:public.orders",
    "inferred:schema",
    "inferred:tables",
    "inferred:unrestored",
    "newest",
    "sum",
  ]);
  nothingLeft();
});

test("rows written while the dump runs are neither counted nor dumped", async () => {
  const stop = new AbortController();
  const writer = (async () => {
    while (!stop.signal.aborted) {
      const psql = spawn("psql", [
        "-XqAtc",
        "insert into orders (status) select 'shipped' from generate_series(1, 50)",
        process.env["TEST_SOURCE_URL"] ?? "",
      ]);
      await once(psql, "close");
    }
  })();
  const made = await backUp(place, server.source);
  stop.abort();
  await writer;
  const tested = await testIt([], { made, metadata: made.sourceMetadata });
  expect(tested.reason).toBeUndefined();
  expect(Number(server.sql("select count(*) from orders"))).toBeGreaterThan(
    Number((made.sourceMetadata["tables"] as { rows: number }[])[0]?.rows) - 1,
  );
  server.sql("delete from orders where status = 'shipped'");
});

describe("checks that do not hold", () => {
  test("a wrong count, a missing table and another schema fail", async () => {
    const tables = [{ name: "public.orders", rows: ROWS + 1 }, { name: "public.gone" }];
    const tested = await testIt([], { metadata: { tables, exact_schema_hash: "0".repeat(64) } });
    expect(tested.result).toBe("failed");
    expect(tested.checks.filter(({ result }) => result === "failed").map(({ id }) => id)).toEqual([
      "inferred:tables",
      "inferred:rows:public.orders",
      "inferred:schema",
    ]);
  });

  test("no row, several rows, NULL, a mistake and an attempt to write fail", async () => {
    const check = (id: string, query: string, expectation: string): CheckConfig => ({
      id,
      query,
      expect: expectation,
    });
    const tested = await testIt([
      check("none", "select 1 as n where false", "n = 1"),
      check("several", "select id as n from orders", "n >= 1"),
      check("null", "select null::int as n", "n >= 0"),
      check("mistake", "select n from nowhere", "n = 1"),
      check("data", "select (note::int) as n from orders limit 1", "n = 1"),
      check("write", "select lo_create(0) as n", "n > 0"),
      check(
        "shell",
        "select '\\! touch /tmp/attestore-was-here' as n, ':HOST' as m \\! touch /tmp/attestore-was-here",
        "n = 1",
      ),
      check("twice", "select 1 as n, 2 as n", "n = 1"),
      check("holds", "select 1 as n", "n = 1"),
    ]);
    expect(tested.result).toBe("failed");
    const results = Object.fromEntries(
      tested.checks.filter(({ id }) => !id.startsWith("inferred:")).map(({ id, result }) => [id, result]),
    );
    expect(results).toEqual({
      none: "failed",
      several: "failed",
      null: "failed",
      mistake: "failed",
      data: "failed",
      write: "failed",
      shell: "failed",
      twice: "failed",
      holds: "passed",
    });
    expect(readdirSync("/tmp")).not.toContain("attestore-was-here");
    // The database's messages may quote data, and stay on the host.
    expect(JSON.stringify(tested)).not.toContain("secret note");
  });

  test("with metadata that name no table nothing was read, so the test does not pass", async () => {
    const tested = await testIt([], {
      metadata: { tables: [], schema_hash: backup.sourceMetadata.schema_hash },
    });
    expect(tested).toMatchObject({ result: "failed", checks: [], reason: "no check read any data" });
  });

  test("a query that takes too long fails, because a hostile dump must not be able to prevent a result", async () => {
    const slow = testIt([{ id: "slow", query: "select pg_sleep(60)::text as n", expect: "n = ''" }], {
      source: { checkTimeout_s: 1 },
    });
    const { result, checks } = await slow;
    expect(result).toBe("failed");
    expect(checks.find(({ id }) => id === "slow")?.observed).toEqual({
      error:
        "the query did not end within 1 s: give the source's checks more time (check_timeout_s in config.yaml) or make it cheaper",
    });
    nothingLeft();
  });
});

describe("a dump that is wrong", () => {
  async function resealed(change: (dump: Buffer) => Buffer): Promise<Resealed> {
    const pieces: Buffer[] = [];
    for await (const piece of unseal(readCiphertext({ path: backup.path }), [place.identity]))
      pieces.push(Buffer.from(piece));
    return reseal(place, change(Buffer.concat(pieces)));
  }

  test("a row that violates a constraint fails the test, and no message quotes it", async () => {
    const made = await resealed((dump) => {
      const at = dump.indexOf("\t777.00\t");
      expect(at).toBeGreaterThan(0);
      dump.write("\t-77.00\t", at, "latin1");
      return dump;
    });
    const tested = await testIt([], { made });
    expect(tested.result).toBe("failed");
    expect(tested.reason).toContain(
      "pg_restore failed at TABLE DATA orders (SQLSTATE 23514): rows in the dump break the constraint ",
    );
    expect(tested.reason).not.toContain("77.00");
    expect(tested.checks).toEqual([]);
    nothingLeft();
  });

  test.each([
    ["cut short", (dump: Buffer) => dump.subarray(0, dump.length - 5_000)],
    ["empty", () => Buffer.alloc(0)],
    ["something else", () => Buffer.from("-- SQL text\nselect 1;\n")],
  ])("%s", async (_, change) => {
    const tested = await testIt([], { made: await resealed(change) });
    expect(tested.result).toBe("failed");
    expect(tested.reason).toContain("pg_restore");
    nothingLeft();
  });

  test("a ciphertext that ends early fails even if its digest matches, whatever was restored before", async () => {
    const bytes = readFileSync(backup.path).subarray(0, -100);
    const path = `${backup.path}.cut`;
    await writeFile(path, bytes);
    const tested = await testIt([], {
      made: { path, sha256: createHash("sha256").update(bytes).digest("hex") },
    });
    expect(tested).toMatchObject({ result: "failed", checks: [] });
    expect(tested.reason).toContain("age payload");
    nothingLeft();
  });
});

test("a place that lacks an extension could not run", async () => {
  const lacking = testIt([], {
    metadata: {
      extensions: [
        { name: "plpgsql", version: "1.0" },
        // No server has it, whatever is installed on the host that runs this test.
        { name: "of_nobody", version: "3.4" },
      ],
    },
  });
  await expect(lacking).rejects.toMatchObject({
    code: "sandbox_lacks",
    message: expect.stringContaining("of_nobody"),
  });
  await expect(testIt([], { metadata: { engine_version: "99.1" } })).rejects.toMatchObject({
    code: "tool_too_old",
  });
  nothingLeft();
});

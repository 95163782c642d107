import { DEFAULT_LIMITS } from "../../src/config/source-limits.ts";
import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseChecks } from "../../src/config/parse-checks.ts";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp } from "./back-and-test.ts";
import { childrenNamed, makeTestPlace, type TestPlace } from "./scratch.ts";
import { changed, contentOf, startContentSource, testContent } from "./content-source.ts";
import { type SourcePostgres } from "./source-postgres.ts";

/** Content is compared in many tables, several databases, and dumps of and for several jobs. */

let place: TestPlace;
let server: SourcePostgres;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startContentSource(place);
  server.sql(`
    create database many;
    \\connect many
    select format('create table t%s (id int, note text); insert into t%s values (%s, ''note %s'')', i, i, i, i) from generate_series(1, 320) i \\gexec
    create database even;
    \\connect even
    create table customers (id int primary key, note text);
    insert into customers select i, repeat(md5(i::text), 50 + (i * 7919) % 100) from generate_series(1, 6000) i;
    -- Short rows in the room that longer ones left.
    delete from customers where id % 3 = 0;
    update customers set note = repeat(md5(id::text), (id * 104729) % 90) where id % 5 = 0;
    create table orders (id int primary key, customer int references customers, note text);
    insert into orders select i, i * 3 + 1, repeat(md5((i + 3)::text), 50 + (i * 7907) % 200) from generate_series(1, 1900) i;
    insert into orders select i, 1, repeat(md5(i::text), 120) from generate_series(5000, 6500) i;
    create table notes as select i, repeat(md5(i::text), 128) from generate_series(1, 3000) i;
    create index on orders (customer); create index on customers (md5(note));
    select lo_from_bytea(0, 'large object');
  `);
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

function back(more: Partial<SourceConfigOf<"postgresql">> = {}): Promise<MadeBackup> {
  return backUp(place, { ...server.source, ...more });
}

const testIt = (made: MadeBackup, more: Parameters<typeof testContent>[3] = {}): Promise<RestoreTestResult> =>
  testContent(place, server, made, more);

const inDatabase = (name: string): Promise<MadeBackup> =>
  back({ connection: { kind: "url", url: server.url("attestore", "", name) } });

describe("more tables than a receipt names", () => {
  let many: MadeBackup;
  beforeAll(async () => {
    many = await inDatabase("many");
  });

  test("are compared all the same", async () => {
    expect(many.sourceMetadata["content"]).toMatchObject({ tables: 320, rest: { tables: 20 } });
    const tested = await testIt(many);
    expect(tested.result).toBe("passed");
    expect(contentOf(tested)).toMatchObject({ observed: { tables: 320, differing: 0, not_compared: 0 } });
  });

  test("fail the test where one of them holds something else", async () => {
    const named = new Set((many.sourceMetadata["tables"] as { name: string }[]).map(({ name }) => name));
    const unnamed = Array.from({ length: 320 }, (_, i) => i + 1).find((i) => !named.has(`public.t${i}`));
    const tested = await testIt(many, {
      instead: await changed(place, many, `note ${unnamed}\n`, `n0te ${unnamed}\n`),
    });
    expect(tested.result).toBe("failed");
    expect(tested.reason).toContain("one of the 20 tables that the receipt does not name");
  });
});

test("an extension in a schema of its own does not hide one changed value", async () => {
  server.sql(`create database tooled;
    \\connect tooled
    create schema tools; create extension pg_stat_statements with schema tools;
    create table tools.notes as select i, 'note ' || i as note from generate_series(1, 500) i`);
  const made = await inDatabase("tooled");
  const good = await testIt(made);
  expect(good.reason).toBeUndefined();
  expect(contentOf(good)).toMatchObject({ observed: { tables: 1, differing: 0, not_compared: 0 } });
  const bad = await testIt(made, { instead: await changed(place, made, "note 77\n", "n0te 77\n") });
  expect(bad.reason).toContain("the content of tools.notes differs from the dump");
  // The archive's list does not say where the name of this schema ends.
  server.sql(`\\connect tooled
    create schema "tools x"; create table "tools x".t as select 1 as i`);
  const odd = await testIt(await inDatabase("tooled"));
  expect(odd.reason).toBeUndefined();
  expect(contentOf(odd)).toMatchObject({ observed: { tables: 2, not_compared: 0 } });
});

test("more statements than run in one transaction do not hide one changed value", async () => {
  server.sql(`create database wide;
    \\connect wide
    select format('create table t%s (id int primary key, a int, b int, c int, d int, e int, f int, note text); insert into t%1$s (id, note) values (%1$s, ''note %1$s'')', i)
      from generate_series(1, 1020) i \\gexec
    select format('comment on column t%s.%s is ''of t%1$s''', i, name)
      from generate_series(1, 1020) i, unnest('{id,a,b,c,d,e,f,note}'::text[]) name \\gexec`);
  const made = await inDatabase("wide");
  expect(made.sourceMetadata["table_count"]).toBe(1020);
  const instead = await changed(place, made, "note 1001\n", "n0te 1001\n");
  expect((await testIt(made, { instead })).reason).toContain("inferred:content failed");
});

test("several databases are compared, each under a key of its own", async () => {
  const made = await back({ databases: ["postgres", "many"] });
  const good = await testIt(made);
  expect(good.reason).toBeUndefined();
  expect(contentOf(good, "inferred:content:postgres")).toMatchObject({
    result: "passed",
    observed: { tables: 8, not_compared: 3 },
  });
  expect(contentOf(good, "inferred:content:many")).toMatchObject({ observed: { tables: 320, differing: 0 } });
});

test("a dump of several jobs, which is restored by several", async () => {
  const made = await back({ jobs: 2 });
  const good = await testIt(made);
  expect(good.reason).toBeUndefined();
  expect(contentOf(good, "inferred:content:postgres")).toMatchObject({
    result: "passed",
    observed: { tables: 8, not_compared: 3 },
  });
  const bad = await testIt(made, {
    instead: await changed(place, made, "that is FLIPPED", "that is flipped"),
  });
  expect(bad.reason).toContain("the content of postgres.public.orders differs from the dump");
});

describe("a dump in custom format whose tables have about as many rows", () => {
  const checksOf = (expect: string) => {
    const query =
      "select count(distinct x) as n from (select xmin::text as x from orders union all select xmin::text from customers) x";
    return parseChecks([{ id: "transactions", query, expect }], "checks", place.dir).checks;
  };
  let even: MadeBackup;
  beforeAll(async () => {
    even = await inDatabase("even");
    expect(Number(even.sourceMetadata["plaintext_size_bytes"])).toBeGreaterThan(32 << 20);
  });

  test.runIf(availableParallelism() > 1)(
    "is restored by several jobs, with its rows in the dump's order",
    async () => {
      const source = { ...server.source, checks: checksOf("n = 2") };
      const good = await testIt(even, { source });
      expect(good.reason).toBeUndefined();
      expect(contentOf(good)).toMatchObject({ observed: { tables: 4, differing: 0, not_compared: 0 } });
    },
  );

  test("fails and leaves nothing if its ciphertext turns out damaged while the server starts", async () => {
    const bytes = await readFile(even.path);
    const at = bytes.length >> 1;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    const path = join(place.blobs, "damaged");
    await writeFile(path, bytes);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const tested = await testIt(even, { instead: { path, sha256 } });
    expect(tested).toMatchObject({ result: "failed", checks: [] });
    expect(tested.reason).toMatch(/damaged|changed|authentic/);
  });

  test.runIf(availableParallelism() > 1)(
    "could not be tested if one of pg_restore's processes is killed, as the kernel does without memory",
    async () => {
      const tested = testIt(even).catch((error: unknown) => error);
      let isOver = false;
      void tested.then(() => (isOver = true));
      // One that was killed may have been done already.
      for (; !isOver; await pause(5)) {
        const [, , worker] = childrenNamed("pg_restore");
        if (worker !== undefined) process.kill(worker, "SIGKILL");
      }
      expect(await tested).toMatchObject({ code: "sandbox_failed" });
    },
  );

  test("is restored as it comes where a limit leaves no room for the dump too", async () => {
    const source = {
      ...server.source,
      limits: { ...DEFAULT_LIMITS, restoreDisk: 1 << 30 },
      checks: checksOf("n = 1"),
    };
    const good = await testIt(even, { source });
    expect(good.reason).toBeUndefined();
    expect(contentOf(good)).toMatchObject({ observed: { tables: 4, differing: 0, not_compared: 0 } });
  });
});

import { createHash, createHmac } from "node:crypto";
import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readCiphertext } from "../../src/crypto/ciphertext.ts";
import { unseal } from "../../src/crypto/unseal.ts";
import { parseChecks } from "../../src/config/parse-checks.ts";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import { DEFAULT_LIMITS } from "../../src/config/source-limits.ts";
import { contentDigest } from "../../src/engines/content/content-digest.ts";
import { openContentKey } from "../../src/runs/content-key.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { childrenNamed, makeTestPlace, type TestPlace, reseal, type Resealed } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

/** What came back is what went in: the content of PostgreSQL's tables. */

const WEIRD = `"we ""ird:\\! touch /tmp/no; é"`;

let place: TestPlace;
let server: SourcePostgres;
let backup: MadeBackup;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourcePostgres(place.dir);
  server.sql(`
    alter database postgres set timezone = 'Asia/Kathmandu';
    alter database postgres set bytea_output = 'escape';
    create table orders (id int primary key, at timestamptz, amount float8, raw bytea, note text, twice int generated always as (id * 2) stored);
    insert into orders select i, '2026-03-29 00:30+01'::timestamptz + i * interval '1 hour', i / 3.0, decode(md5(i::text), 'hex'),
      case when i = 4711 then 'the value that is FLIPPED' else repeat('x', (i * 7919) % 500) end from generate_series(1, 20000) i;
    -- Short rows in the room that longer ones left: in another order than a plain COPY would put them.
    delete from orders where id % 3 = 0;
    update orders set note = repeat('y', (id * 104729) % 600) where id % 5 = 0 and id <> 4711;
    create schema ${WEIRD};
    create table ${WEIRD}.${WEIRD} (${WEIRD} text, "select" jsonb);
    insert into ${WEIRD}.${WEIRD} values (E'a\\nb\\t\\\\.\\n\\\\.', '{"a": 1}'), (null, null);
    -- Everything that could make a copy print its rows in another way or order, and must not.
    create type mood as enum ('ok', 'not ok');
    create domain positive as int check (value > 0);
    create table hard (gone int, id int generated always as identity, at interval, span int4range, words text[], price numeric, f real, tree xml,
      found tsvector, feels mood, p positive, large text, class regclass) with (fillfactor = 40);
    insert into hard (gone, at, span, words, price, f, tree, found, feels, p, large, class)
      select i, i * interval '1 month 3 days 04:05:06.789', int4range(i, i + 9), array['a', null, 'b,' || i], i / 7.0, i / 3.0, '<a>é</a>', to_tsvector('simple', 'word ' || i),
        'not ok', i, repeat(md5(i::text), (i * 37) % 700), 'orders'::regclass from generate_series(1, 2000) i;
    update hard set price = 'NaN', f = '-Infinity' where id % 4 = 0;
    alter table hard drop column gone;
    alter table hard add column later int default 7;
    alter table hard enable row level security;
    alter table hard force row level security;
    create function stop() returns trigger language plpgsql as $$ begin raise 'not now'; end $$;
    create trigger stop before insert on hard for each row execute function stop();
    cluster orders using orders_pkey;
    update orders set amount = -0.0 where id % 7 = 0;
    create table empty (id int);
    create table nothing (); insert into nothing default values;
    create unlogged table fast (id int); insert into fast values (1);
    create table events (at date, n int) partition by range (at);
    create table events_2026 partition of events for values from ('2026-01-01') to ('2027-01-01');
    insert into events values ('2026-05-05', 1);
    create table child (extra text) inherits (empty); insert into child values (1, 'inherited');
    create materialized view totals as select count(*) from orders;
    select lo_from_bytea(0, 'large object'), lo_create(0), lo_from_bytea(0, convert_to(repeat('0123456789abcdef', 10000) || 'the object that is WHOLE', 'UTF8'));
    -- One with a hole.
    select lo_put(lo_create(0), 1000000, 'behind');
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
  backup = await back();
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

function back(more: Partial<SourceConfigOf<"postgresql">> = {}): Promise<MadeBackup> {
  return backUp(place, { ...server.source, ...more });
}

async function testIt(
  made: MadeBackup,
  {
    instead = made,
    without = [],
    source = server.source,
  }: { instead?: Resealed; without?: readonly string[]; source?: SourceConfigOf<"postgresql"> } = {},
): Promise<RestoreTestResult> {
  const tested = await testBackup(place, source, made, { instead, without });
  expect(readdirSync(place.scratch)).toEqual([]);
  for (const name of ["psql", "pg_dump", "pg_restore"]) expect(childrenNamed(name), name).toEqual([]);
  return tested;
}

/** The same backup with a dump in which some bytes are others. */
async function changed(made: MadeBackup, from: string, to: string): Promise<Resealed> {
  const pieces: Buffer[] = [];
  for await (const piece of unseal(readCiphertext({ path: made.path }), [place.identity]))
    pieces.push(Buffer.from(piece));
  const dump = Buffer.concat(pieces);
  const at = dump.lastIndexOf(from);
  expect(at).toBeGreaterThan(0);
  dump.write(to, at, "latin1");
  return reseal(place, dump);
}

const contentOf = (tested: RestoreTestResult, id = "inferred:content") =>
  tested.checks.find((check) => check.id === id);

test("an unchanged copy passes, and the receipts name everything that was compared and that was not", async () => {
  const { tables, content } = backup.sourceMetadata as unknown as {
    tables: { name: string; content?: string }[];
    content: Record<string, unknown>;
  };
  expect(tables.filter((each) => each.content === undefined).map(({ name }) => name)).toEqual([
    "public.child",
  ]);
  expect(content).toMatchObject({
    tables: 8,
    rest: null,
    large_objects: expect.stringMatching(/^[0-9a-f]{32}$/),
    settings: { bytea_output: "escape", client_encoding: "UTF8" },
    not_compared: {
      count: 3,
      named: [
        { name: "public.child", why: "inherited_columns" },
        { name: "public.orders.twice", why: "generated_column" },
        { name: "public.totals", why: "materialized_view" },
      ],
    },
  });
  const tested = await testIt(backup);
  expect(tested.reason).toBeUndefined();
  expect(tested.result).toBe("passed");
  expect(contentOf(tested)).toMatchObject({
    result: "passed",
    observed: {
      tables: 8,
      differing: 0,
      not_compared: 3,
      sha256: content["sha256"],
      signed_sha256: content["sha256"],
      not_compared_tables:
        "public.child (inherited_columns), public.orders.twice (generated_column), public.totals (materialized_view)",
    },
  });
});

test("a digest can be recomputed with an identity; the metadata alone confirm no guess", async () => {
  const key = await openContentKey(backup.sourceMetadata, [place.identity]);
  const rows = execFileSync("psql", ["-XqAtc", "copy public.events_2026 (at, n) to stdout"], {
    env: { ...process.env, ...server.environment },
  });
  const sha256 = execFileSync("sha256sum", { input: rows, encoding: "utf8" }).slice(0, 64);
  const tag = createHmac("sha256", key ?? "")
    .update(JSON.stringify(["public", "events_2026", ["at", "n"], sha256]))
    .digest("hex")
    .slice(0, 32);
  const { tables, content } = backup.sourceMetadata as unknown as {
    tables: { name: string; content?: string }[];
    content: { sha256: string; large_objects: string };
  };
  expect(tables.find(({ name }) => name === "public.events_2026")?.content).toBe(tag);
  expect(content.sha256).toBe(
    contentDigest([
      ...tables.flatMap((each) => (each.content === undefined ? [] : [[each.name, each.content] as const])),
      ["pg_catalog.pg_largeobject", content.large_objects],
    ]),
  );
  expect(JSON.stringify(backup.sourceMetadata)).not.toContain(sha256);
  // Another backup of the same rows has other digests.
  const again = await back();
  const { tables: others } = again.sourceMetadata as unknown as {
    tables: { name: string; content?: string }[];
  };
  expect(others.find(({ name }) => name === "public.events_2026")?.content).not.toBe(tag);
});

test("one changed value fails the test, which names the table and quotes no row", async () => {
  const tested = await testIt(backup, {
    instead: await changed(backup, "the value that is FLIPPED", "the value that is flipped"),
  });
  expect(tested.result).toBe("failed");
  expect(tested.reason).toMatch(
    /^check inferred:content failed: the content of public\.orders differs from the dump: keep this backup, make another/,
  );
  expect(contentOf(tested)).toMatchObject({
    result: "failed",
    observed: { tables: 8, differing: 1, differing_tables: "public.orders" },
  });
  expect(JSON.stringify(tested)).not.toContain("the value");
  // Everything else that the test looks at is as it should be.
  expect(tested.checks.filter(({ result }) => result === "failed")).toHaveLength(1);
});

test("one changed byte of a large object fails the test", async () => {
  const tested = await testIt(backup, {
    instead: await changed(backup, "the object that is WHOLE", "the object that is wHOLE"),
  });
  expect(tested.reason).toMatch(
    /^check inferred:content failed: the content of pg_catalog\.pg_largeobject differs from the dump: /,
  );
  expect(tested.checks.filter(({ result }) => result === "failed").map(({ id }) => id)).toEqual([
    "inferred:content",
  ]);
});

test("an older backup without digests is tested as before, and its content is not called compared", async () => {
  const tested = await testIt(backup, { without: ["content", "content_key"] });
  expect(tested.result).toBe("passed");
  expect(contentOf(tested)).toBeUndefined();
  expect(comparedContentText(tested.checks)).toBe("content not compared");
  // And nothing else finds what was changed on the way.
  const instead = await changed(backup, "the value that is FLIPPED", "the value that is flipped");
  expect(await testIt(backup, { instead, without: ["content", "content_key"] })).toMatchObject({
    result: "passed",
  });
});

describe("more tables than a receipt names", () => {
  let many: MadeBackup;
  beforeAll(async () => {
    many = await back({ connection: { kind: "url", url: server.url("attestore", "", "many") } });
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
      instead: await changed(many, `note ${unnamed}\n`, `n0te ${unnamed}\n`),
    });
    expect(tested.result).toBe("failed");
    expect(tested.reason).toContain("one of the 20 tables that the receipt does not name");
  });
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
  const bad = await testIt(made, { instead: await changed(made, "that is FLIPPED", "that is flipped") });
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
    even = await back({ connection: { kind: "url", url: server.url("attestore", "", "even") } });
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

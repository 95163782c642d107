import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { findSandbox } from "../../src/engines/index.ts";
import { readCiphertext } from "../../src/crypto/ciphertext.ts";
import { unseal } from "../../src/crypto/unseal.ts";
import { parseSourceConfig, type SourceConfig } from "../../src/config/source-config.ts";
import { writeEncryptedDump, type MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { type RestoreTestResult, restoreAndCheck } from "../../src/runs/restore-and-check.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

/**
 * Restores into a database that a person named, on the very server of the source: the worst place
 * for a mistake.
 */

const never = new AbortController().signal;

let place: TestPlace;
let server: SourcePostgres;
let other: SourcePostgres;
let backup: MadeBackup;

beforeAll(async () => {
  place = await makeTestPlace();
  other = await startSourcePostgres(place.dir);
  server = await startSourcePostgres(place.dir);
  server.sql(`
    create role tester login; create role stranger login;
    create database shop; create database scratch owner tester;
  `);
  // As PostgreSQL 15 and newer make it.
  sql("scratch", "alter schema public owner to tester");
  sql(
    "shop",
    `create schema sales; create type mood as enum ('low');
     create table orders (id int primary key, note text, mood mood);
     insert into orders select i, 'secret note ' || i, 'low' from generate_series(1, 500) i;
     create table sales.lines (n int references orders (id));
     create view few as select * from orders limit 5;
     create function twice(n int) returns int language sql as 'select 2 * n';
     select lo_from_bytea(0, 'large object');`,
  );
  process.env["TEST_SHOP_URL"] = server.url("attestore", "", "shop");
  process.env["TEST_OTHER_URL"] = server.url("attestore", "", "scratch");
  backup = await writeEncryptedDump({
    source: shop(),
    recipients: [place.recipient],
    blobsDir: place.blobs,
    scratchDir: place.scratch,
    signal: never,
  });
});
afterAll(async () => {
  await server?.close();
  await other?.close();
  await place?.remove();
});

beforeEach(() => {
  process.env["TEST_SCRATCH_URL"] = server.url("tester", "", "scratch");
});
// Whatever happened: the source is as it was.
afterEach(() => {
  expect(sql("shop", "select count(*) from orders")).toBe("500");
});

function sql(database: string, text: string, user = "attestore"): string {
  const { stdout, stderr, status } = spawnSync(
    "psql",
    ["-XqAt", "-v", "ON_ERROR_STOP=1", server.url(user, "", database)],
    { input: text, encoding: "utf8" },
  );
  if (status !== 0) throw new Error(stderr);
  return stdout.trim();
}

const tablesOf = (database: string): string =>
  sql(
    database,
    "select count(*) from pg_class where oid >= 16384 union all select count(*) from pg_largeobject_metadata",
  );
const commentOf = (database: string): string =>
  sql(
    database,
    `select shobj_description(oid, 'pg_database') from pg_database where datname = '${database}'`,
  );

function shop(sandbox: unknown = { kind: "uri", database: "env:TEST_SCRATCH_URL" }): SourceConfig {
  return parseSourceConfig(
    "shop",
    { engine: "postgresql", connection: "env:TEST_SHOP_URL", sandbox },
    place.dir,
  );
}

function testIt(
  more: { signal?: AbortSignal; onRestore?: () => void; checks?: unknown; sources?: SourceConfig[] } = {},
): Promise<RestoreTestResult> {
  const source = { ...shop(), ...(more.checks === undefined ? {} : { checks: more.checks }) } as SourceConfig;
  return restoreAndCheck({
    source,
    ...(more.sources === undefined ? {} : { sources: more.sources }),
    ciphertext: { path: backup.path },
    sha256: backup.sha256,
    identities: [place.identity],
    scratchDir: place.scratch,
    backupMetadata: backup.sourceMetadata,
    signal: more.signal ?? never,
    onProgress: ({ phase }) => {
      if (phase === "checks") more.onRestore?.();
    },
  });
}

const reason = (pattern: RegExp) => ({ code: "sandbox_failed", message: expect.stringMatching(pattern) });

describe("an empty database", () => {
  test("receives the backup, is marked during the test, and is empty and unmarked afterwards", async () => {
    let during = "";
    const tested = await testIt({
      checks: [{ id: "n", query: "select count(*) as n from orders", expect: "n = 500" }],
      onRestore: () => {
        during ||= `${commentOf("scratch")}: ${sql("scratch", "select count(*) from orders")}`;
      },
    });
    expect(tested.reason).toBeUndefined();
    expect(tested).toMatchObject({ result: "passed", runtime: { kind: "uri", engine: "postgresql" } });
    expect(tested.checks.map(({ id }) => id)).toContain("n");
    expect(tested.checks.find(({ id }) => id === "inferred:indexes")?.observed).toEqual({
      indexes: 0,
      unfit: 0,
      not_checked: 1,
      not_checked_names: "all indexes (not in sandbox.database)",
    });
    expect(during).toBe("attestore:throw-away (while a restore test runs): 500");
    expect(tablesOf("scratch")).toBe("0\n0");
    expect(commentOf("scratch")).toBe("");
    expect(sql("scratch", "select nspname from pg_namespace where oid >= 16384 or nspname = 'public'")).toBe(
      "public",
    );
  });

  test("gets its comment back", async () => {
    sql("scratch", "comment on database scratch is 'of the tests'", "tester");
    expect((await testIt()).result).toBe("passed");
    expect(commentOf("scratch")).toBe("of the tests");
    sql("scratch", "comment on database scratch is null");
  });

  test("is emptied after a check that failed, and after an abort", async () => {
    const failed = await testIt({
      checks: [{ id: "n", query: "select count(*) as n from orders", expect: "n = 1" }],
    });
    expect(failed.result).toBe("failed");
    expect(tablesOf("scratch")).toBe("0\n0");
    const controller = new AbortController();
    const aborted = testIt({ signal: controller.signal, onRestore: () => controller.abort() });
    await expect(aborted).rejects.toMatchObject({ code: "interrupted" });
    expect(tablesOf("scratch")).toBe("0\n0");
    expect(commentOf("scratch")).toBe("");
  });

  test("is emptied by the next test after kill -9", async () => {
    const holder = spawn(
      process.execPath,
      ["--no-warnings", join(import.meta.dirname, "hold-throw-away.ts")],
      { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, TEST_SOURCE_DIR: place.dir } },
    );
    await once(holder.stdout, "data");
    sql("scratch", "create table left_behind as select 1 as n", "tester");
    holder.kill("SIGKILL");
    await once(holder, "exit");
    await expect
      .poll(() => sql("postgres", "select count(*) from pg_stat_activity where datname = 'scratch'"))
      .toBe("0");
    expect(commentOf("scratch")).toMatch(/^attestore:throw-away/);
    expect((await testIt()).result).toBe("passed");
    expect(tablesOf("scratch")).toBe("0\n0");
    expect(commentOf("scratch")).toBe("");
  });
});

test("a server that breaks down during a restore says nothing about the backup", async () => {
  const pieces: Buffer[] = [];
  for await (const piece of unseal(readCiphertext({ path: backup.path }), [place.identity]))
    pieces.push(Buffer.from(piece));
  const dump = Buffer.concat(pieces);
  const terminate = `select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = 'scratch'
    and pid not in (select pid from pg_locks where locktype = 'advisory')`;
  async function* brokenOff(): AsyncGenerator<Buffer> {
    yield dump.subarray(0, -1_000);
    await expect.poll(() => sql("postgres", terminate)).toBe("1");
    yield dump.subarray(-1_000);
  }
  const sandbox = await findSandbox(shop(), backup.sourceMetadata);
  await expect(
    sandbox.restore(brokenOff(), { scratchDir: place.scratch, signal: never }),
  ).rejects.toMatchObject(reason(/closed or refused the connection during the restore/));
  expect(tablesOf("scratch")).toBe("0\n0");
});

test("a test that lost its lock on the database has no result", async () => {
  const lost = testIt({
    onRestore: () =>
      sql(
        "postgres",
        "select pg_terminate_backend(l.pid) from pg_locks l join pg_database d on d.oid = l.database where locktype = 'advisory' and datname = 'scratch'",
      ),
  });
  await expect(lost).rejects.toMatchObject(reason(/was lost during the test/));
  // The next one finds it by its mark.
  expect((await testIt()).result).toBe("passed");
  expect(tablesOf("scratch")).toBe("0\n0");
});

describe("is refused, and left as it is", () => {
  test("a database with anything in it", async () => {
    for (const [made, dropped, what] of [
      ["create table precious as select 42 as n", "drop table precious", /1 relations/],
      ["create function f() returns int language sql as 'select 1'", "drop function f", /1 functions/],
      ["create schema s", "drop schema s", /1 schemas/],
      ["select lo_create(4711)", "select lo_unlink(4711)", /1 large objects/],
      ["create type t as enum ('a')", "drop type t", /types/],
    ] as const) {
      sql("scratch", made, "tester");
      await expect(testIt()).rejects.toMatchObject(reason(/database scratch .* is not empty/));
      await expect(testIt()).rejects.toMatchObject(reason(what));
      expect(commentOf("scratch")).toBe("");
      sql("scratch", dropped, "tester");
    }
  });

  test("a source's database, by the same address or another one, of this source or any other", async () => {
    process.env["TEST_SCRATCH_URL"] = process.env["TEST_SHOP_URL"];
    await expect(testIt()).rejects.toMatchObject(reason(/is the database of the source shop/));
    // The same socket by another path of the file system, and another role.
    const host = encodeURIComponent(`/${server.environment["PGHOST"]}`);
    process.env["TEST_SCRATCH_URL"] = `postgresql://tester@/shop?host=${host}`;
    await expect(testIt()).rejects.toMatchObject(reason(/is the database of the source shop/));
    process.env["TEST_SCRATCH_URL"] = server.url("tester", "", "scratch");
    const another = parseSourceConfig(
      "another",
      { engine: "postgresql", connection: "env:TEST_OTHER_URL" },
      place.dir,
    );
    await expect(testIt({ sources: [another] })).rejects.toMatchObject(
      reason(/is the database of the source another/),
    );
  });

  test("one that somebody else is connected to", async () => {
    const client = spawn("psql", ["-XqAt", server.url("tester", "", "scratch")], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    client.stdin.write("select 'here';\n");
    await once(client.stdout, "data");
    await expect(testIt()).rejects.toMatchObject(reason(/another client is connected/));
    client.stdin.end();
    await once(client, "close");
  });

  test("one of the server's own, and one that is somebody else's", async () => {
    process.env["TEST_SCRATCH_URL"] = other.url("attestore", "", "postgres");
    await expect(testIt()).rejects.toMatchObject(reason(/one of the server's own/));
    process.env["TEST_SCRATCH_URL"] = server.url("stranger", "", "scratch");
    await expect(testIt()).rejects.toMatchObject(reason(/not owned by its role/));
  });

  test("one whose schema public is somebody else's, as PostgreSQL 13 and 14 make it", async () => {
    sql("scratch", "alter schema public owner to stranger");
    await expect(testIt()).rejects.toMatchObject(reason(/schema public that its role does not own/));
    expect(commentOf("scratch")).toBe("");
    sql("scratch", "alter schema public owner to tester");
  });

  test("a URI without a database, or with several hosts", async () => {
    for (const url of [
      "postgresql://tester@localhost",
      "postgresql://tester@one,two/scratch",
      "postgresql://tester@/scratch?hostaddr=127.0.0.1,127.0.0.2",
      // The service's entry may say anything, and goes before what the URL says.
      "postgresql://tester@localhost/scratch?service=other",
    ]) {
      process.env["TEST_SCRATCH_URL"] = url;
      await expect(testIt()).rejects.toMatchObject({ code: "connection_reference" });
    }
  });
});

test("a database that a person marked is emptied first, and keeps its mark", async () => {
  sql(
    "scratch",
    "create table old as select 1 as n; comment on database scratch is 'attestore:throw-away'",
    "tester",
  );
  expect((await testIt()).result).toBe("passed");
  expect(tablesOf("scratch")).toBe("0\n0");
  expect(commentOf("scratch")).toBe("attestore:throw-away");
  sql("scratch", "comment on database scratch is null");
});

test("of two simultaneous tests one gets the database, and the other reports that it is in use", async () => {
  const both = await Promise.allSettled([testIt(), testIt()]);
  const refused = both.filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(1);
  expect(refused[0]).toMatchObject({ reason: reason(/in use/) });
  expect(tablesOf("scratch")).toBe("0\n0");
});

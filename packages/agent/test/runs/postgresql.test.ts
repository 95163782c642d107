import { createHash } from "node:crypto";
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { setTimeout as pause } from "node:timers/promises";
import { rm, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { postgresql } from "../../src/engines/postgresql/index.ts";
import type { SourceMetadata } from "../../src/engines/engine.ts";
import { readCiphertext } from "../../src/crypto/ciphertext.ts";
import { unseal } from "../../src/crypto/unseal.ts";
import type { CheckConfig, SourceConfigOf } from "../../src/config/source-config.ts";
import { writeEncryptedDump, type MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { makeCertificates } from "../service/certificates.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { childrenNamed, makeTestPlace, type TestPlace, reseal, type Resealed } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

const never = new AbortController().signal;
const ROWS = 20_000;

let place: TestPlace;
let server: SourcePostgres;
let backup: MadeBackup;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourcePostgres(place.dir);
  server.sql(`
    create role seller; create role limited login; create role owner login password 'hush-hush';
    create type mood as enum ('low', 'high');
    create domain positive as numeric(10, 2) not null check (value > 0);
    create schema "Sales";
    create table orders (id bigint generated always as identity primary key, status varchar(20) not null check (status in ('paid', 'shipped')),
      price positive default 1.5, mood mood default 'low', placed_at timestamptz not null default '2026-01-02 03:04:05+02', note text,
      doubled numeric generated always as (price * 2) stored);
    insert into orders (status, price, note) select 'paid', i, 'secret note ' || i from generate_series(1, ${ROWS}) i;
    create index orders_late on orders (placed_at desc) where status in ('paid', 'shipped');
    create table "Sales"."we ""ird:name" (a int references orders (id), b jsonb, c text[] default array['x', 'y']);
    create table events (at date, n int) partition by range (at);
    create table events_2026 partition of events for values from ('2026-01-01') to ('2027-01-01');
    insert into events values ('2026-05-05', 1), ('2026-06-06', 2);
    alter table orders enable row level security;
    create policy sellers on orders to seller using (true);
    create view paid as select id, price from orders where status = 'paid';
    create materialized view stale as select count(*) as n from orders;
    create function twice(n int) returns int language sql as 'select 2 * n';
    select lo_from_bytea(0, 'large object');
  `);
  backup = await backUp(place, server.source);
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

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

const nothingLeft = async (): Promise<void> => {
  expect(await readdirOf(place.scratch)).toEqual([]);
  for (const name of ["psql", "pg_dump", "pg_restore"]) expect(childrenNamed(name), name).toEqual([]);
};
const readdirOf = (path: string): Promise<string[]> => Promise.resolve(readdirSync(path));

test("a lost connection to a server is noticed in minutes, where the system's own keepalive takes hours", async () => {
  const { PGHOST = "", PGPORT = "" } = server.environment;
  const proxy = createServer((client) => {
    const onwards = connect(join(PGHOST, `.s.PGSQL.${PGPORT}`));
    for (const each of [client, onwards]) each.on("error", () => undefined);
    client.pipe(onwards).pipe(client);
    // pg_dump that is stopped resets its connection: the server has to hear of it, or keeps its
    // locks.
    client.once("close", () => onwards.destroy());
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  const { port } = proxy.address() as AddressInfo;
  const dumping = async (connection: SourceConfigOf<"postgresql">["connection"]): Promise<number[]> => {
    const dump = await postgresql.dump(
      { ...server.source, connection },
      { scratchDir: place.scratch, signal: never },
    );
    const unlock = await lockOrders();
    const first = dump.content[Symbol.asyncIterator]().next();
    first.catch(() => undefined);
    try {
      // psql and pg_dump both are there, and wait: pg_dump for the table.
      return await keepaliveTimersTo(port);
    } finally {
      await dump.close();
      await unlock();
      await first.catch(() => undefined);
    }
  };
  try {
    const url = `postgresql://${server.environment["PGUSER"]}@127.0.0.1:${port}/postgres`;
    for (const seconds of await dumping({ kind: "url", url })) expect(seconds).toBeLessThanOrEqual(60);

    // Keepalives that the service file sets are left as they are.
    const services = join(place.dir, "pg_service.conf");
    await writeFile(
      services,
      `[kept]\nhost=127.0.0.1\nport=${port}\nuser=${server.environment["PGUSER"]}\ndbname=postgres\nkeepalives_idle=999\n`,
    );
    process.env["PGSERVICEFILE"] = services;
    for (const seconds of await dumping({ kind: "service", name: "kept" }))
      expect(seconds).toBeGreaterThan(900);
  } finally {
    delete process.env["PGSERVICEFILE"];
    proxy.close();
  }
});

/** Holds the table that pg_dump comes to, until it is called. */
async function lockOrders(): Promise<() => Promise<void>> {
  const lock = spawn("psql", ["-XqAt", process.env["TEST_SOURCE_URL"] ?? ""], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  lock.stdin.write("begin; lock table orders in access exclusive mode; select 'locked';\n");
  await once(lock.stdout, "data");
  return async () => {
    lock.stdin.end("commit;\n");
    await once(lock, "close");
  };
}

/**
 * Seconds until the kernel asks whether the other end is there, of psql's and pg_dump's connection
 * to a port of this host; as soon as both have nothing on its way, which has a timer of its own.
 */
async function keepaliveTimersTo(port: number): Promise<number[]> {
  const wanted = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  for (;;) {
    const timers = readFileSync("/proc/net/tcp", "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , remote, state]) => remote === wanted && state === "01")
      .map(([, , , , , timer = ""]) => timer.split(":"));
    if (timers.length === 2 && timers.every(([what]) => what === "02"))
      return timers.map(([, ticks = ""]) => Number.parseInt(ticks, 16) / 100);
    await pause(10);
  }
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
    "inferred:objects",
    "inferred:privileges",
    `inferred:rows:"Sales"."we ""ird:name"`,
    "inferred:rows:public.events_2026",
    "inferred:rows:public.orders",
    "inferred:schema",
    "inferred:tables",
    "newest",
    "sum",
  ]);
  await nothingLeft();
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
    await nothingLeft();
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
    await nothingLeft();
  });

  test.each([
    ["cut short", (dump: Buffer) => dump.subarray(0, dump.length - 5_000)],
    ["empty", () => Buffer.alloc(0)],
    ["something else", () => Buffer.from("-- SQL text\nselect 1;\n")],
  ])("%s", async (_, change) => {
    const tested = await testIt([], { made: await resealed(change) });
    expect(tested.result).toBe("failed");
    expect(tested.reason).toContain("pg_restore");
    await nothingLeft();
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
    await nothingLeft();
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
  await nothingLeft();
});

describe("a dump that fails leaves nothing", () => {
  let blobsBefore: string[] = [];
  beforeEach(() => {
    blobsBefore = readdirSync(place.blobs);
  });
  const back = (url: string | null, signal = never, onProgress?: () => void): Promise<MadeBackup> => {
    if (url !== null) process.env["TEST_OTHER_URL"] = url;
    const name = url === null ? "TEST_SOURCE_URL" : "TEST_OTHER_URL";
    return writeEncryptedDump({
      source: { ...server.source, connection: { kind: "env", name } },
      recipients: [place.recipient],
      blobsDir: place.blobs,
      signal,
      ...(onProgress === undefined ? {} : { onProgress }),
    });
  };
  const nothingNew = async (): Promise<void> => {
    expect(readdirSync(place.blobs)).toEqual(blobsBefore);
    await nothingLeft();
  };

  test("without the right to read a table", async () => {
    await expect(back(server.url("limited", "hush-hush"))).rejects.toMatchObject({
      code: "dump_failed",
      message: expect.stringContaining("permission denied"),
    });
    await nothingNew();
  });

  test("without a server, without a database, without a variable", async () => {
    await expect(back("postgresql://u:hush-hush@127.0.0.1:1/db")).rejects.toMatchObject({
      code: "connection_failed",
      message: expect.stringContaining("refused"),
    });
    const failed: unknown = await back(server.url("owner", "hush-hush", "nowhere")).catch(
      (error: unknown) => error,
    );
    expect(failed).toMatchObject({
      code: "connection_failed",
      message: expect.stringContaining(`database "nowhere" does not exist`),
    });
    expect(String(failed)).not.toContain("hush-hush");
    const unset = backUp(place, { ...server.source, connection: { kind: "env", name: "NOT_SET_AT_ALL" } });
    await expect(unset).rejects.toMatchObject({ code: "connection_reference" });
    await nothingNew();
  });

  /** Holds pg_dump up in the middle: it has the snapshot, and waits for a table that is locked. */
  async function heldUp(act: () => void, signal = never): Promise<unknown> {
    const unlock = await lockOrders();
    const dumping = back(null, signal).catch((error: unknown) => error);
    try {
      const waiting =
        "select count(*) from pg_stat_activity where query like 'LOCK TABLE%' and wait_event_type = 'Lock'";
      await expect.poll(() => server.sql(waiting)).toBe("1");
      act();
    } finally {
      await unlock();
    }
    return dumping;
  }

  test("pg_dump is killed", async () => {
    const killed = await heldUp(() =>
      childrenNamed("pg_dump").forEach((pid) => process.kill(pid, "SIGKILL")),
    );
    expect(killed).toMatchObject({ code: "dump_failed", message: "pg_dump ended with signal SIGKILL" });
    await nothingNew();
  });

  test("pg_dump is killed after a part of its output", async () => {
    let pieces = 0;
    const killed = back(null, never, () => {
      pieces += 1;
      for (const pid of childrenNamed("pg_dump")) process.kill(pid, "SIGKILL");
    });
    await expect(killed).rejects.toMatchObject({
      code: "dump_failed",
      message: "pg_dump ended with signal SIGKILL",
    });
    expect(pieces).toBeGreaterThan(0);
    await nothingNew();
  });

  test("the server breaks the connection", async () => {
    const broken = await heldUp(() =>
      server.sql("select pg_terminate_backend(pid) from pg_stat_activity where query like 'LOCK TABLE%'"),
    );
    expect(broken).toMatchObject({
      code: "dump_failed",
      message: expect.stringContaining("pg_dump ended with exit code 1"),
    });
    await nothingNew();
  });

  test("the run is interrupted", async () => {
    const controller = new AbortController();
    const interrupted = await heldUp(() => controller.abort(), controller.signal);
    expect(interrupted).toMatchObject({ code: "interrupted" });
    await nothingNew();
  });

  test("no password is in any argument list", async () => {
    const secret = "hush-hush";
    const seen: string[] = [];
    process.env["TEST_SOURCE_URL_KEPT"] = process.env["TEST_SOURCE_URL"];
    process.env["TEST_SOURCE_URL"] = server.url("attestore", secret);
    try {
      await heldUp(() => seen.push(execFileSync("ps", ["axww", "-o", "args"], { encoding: "utf8" })));
    } finally {
      process.env["TEST_SOURCE_URL"] = process.env["TEST_SOURCE_URL_KEPT"];
    }
    expect(seen[0]).toContain("pg_dump --format=custom");
    // The test's own psql, which holds the lock, has the URL; it is not ours.
    expect(
      seen[0]?.split("\n").filter((line) => line.includes(secret) && !line.includes("psql -XqAt")),
    ).toEqual([]);
    for (const name of readdirSync(place.blobs).filter((each) => !blobsBefore.includes(each))) {
      await rm(`${place.blobs}/${name}`);
    }
  });
});

describe("a server on another host", () => {
  /** The loopback addresses, by names of which nobody could know that. */
  const [NAMED, OTHER] = ["0x7f000001", "0x7f000002"];

  test("is dumped if its certificate is signed by the URL's authority and for that very name, and not otherwise", async () => {
    const { ca, cert, key } = makeCertificates();
    const roots = join(place.dir, "ca.pem");
    writeFileSync(roots, ca);
    const others = join(place.dir, "other-ca.pem");
    writeFileSync(others, makeCertificates().ca);
    const socket = join(server.environment["PGHOST"] ?? "", ".s.PGSQL.5432");
    // PostgreSQL's own end of TLS needs an address, and the source here has a socket alone: so it
    // is ended before it.
    const ends = createServer((client) => {
      client.on("error", () => undefined);
      client.once("data", () => {
        client.write("S");
        const plain = new TLSSocket(client, { isServer: true, cert, key });
        const behind = connect(socket);
        for (const each of [plain, behind]) each.on("error", () => (plain.destroy(), behind.destroy()));
        plain.pipe(behind).pipe(plain);
      });
    });
    await once(ends.listen(0, "0.0.0.0"), "listening");
    const { port } = ends.address() as AddressInfo;
    const dump = (host: string, query: string): Promise<MadeBackup> => {
      process.env["TEST_TLS_URL"] = `postgresql://attestore@${host}:${port}/postgres${query}`;
      return backUp(place, { ...server.source, connection: { kind: "env", name: "TEST_TLS_URL" } });
    };
    const refused = (words: RegExp) => ({
      code: "connection_failed",
      message: expect.stringMatching(words) as string,
    });
    try {
      const made = await dump(NAMED, `?sslrootcert=${encodeURIComponent(roots)}`);
      expect(made.sourceMetadata).toMatchObject({ schema_hash: backup.sourceMetadata.schema_hash });
      await expect(dump(OTHER, `?sslrootcert=${encodeURIComponent(roots)}`)).rejects.toMatchObject(
        refused(/does not match host name "0x7f000002"/),
      );
      await expect(dump(NAMED, `?sslrootcert=${encodeURIComponent(others)}`)).rejects.toMatchObject(
        refused(/certificate verify failed/),
      );
      // Of nobody whom this system trusts.
      await expect(dump(NAMED, "")).rejects.toMatchObject(refused(/certificate verify failed/));
    } finally {
      ends.close();
    }
  });
});

test("a dump that ends at its first bytes leaves no connection to the source", async () => {
  const dump = await postgresql.dump(server.source, { scratchDir: place.scratch, signal: never });
  for await (const _ of dump.content) break;
  await dump.close();
  for (const name of ["psql", "pg_dump"]) expect(childrenNamed(name), name).toEqual([]);
});

describe("nothing that a source's server says is run", () => {
  const hostileSource = (database: string): SourceConfigOf<"postgresql"> => ({
    ...server.source,
    connection: { kind: "url", url: server.url(server.environment["PGUSER"] ?? "", "", database) },
  });
  const dumped = async (source: SourceConfigOf<"postgresql">): Promise<SourceMetadata> => {
    const dump = await postgresql.dump(source, { scratchDir: place.scratch, signal: never });
    try {
      for await (const _ of dump.content);
      return await dump.metadata();
    } finally {
      await dump.close();
    }
  };

  test("names of tables that hold psql's commands, from an overloaded pg_catalog.format", async () => {
    server.sql("create database hostile");
    const ran = join(place.dir, "ran");
    const psql = (sql: string): string =>
      execFileSync("psql", ["-XqAt", "-v", "ON_ERROR_STOP=1"], {
        env: { ...process.env, ...server.environment, PGDATABASE: "hostile" },
        input: sql,
        encoding: "utf8",
      });
    psql(`
      create table honest as select 1 as n;
      create table bait as select 1 as n;
      create function pg_catalog.format(text, name, name) returns text language sql as $$
        select case $3 when 'bait' then concat('pg_class limit 0;', chr(10), chr(92), '! touch ${ran}', chr(10), '--')
          else pg_catalog.format($1, variadic array[$2::text, $3::text]) end $$;`);
    const metadata = await dumped(hostileSource("hostile"));
    expect(readdirSync(place.dir)).not.toContain("ran");
    // The honest table's count is there all the same.
    expect(metadata["tables"]).toContainEqual(
      expect.objectContaining({ name: "public.honest", rows: 1 }) as unknown,
    );
  });

  test("functions and operators that other users of the source put in the way", async () => {
    server.sql("create database crowded");
    const psql = (sql: string): string =>
      execFileSync("psql", ["-XqAt", "-v", "ON_ERROR_STOP=1"], {
        env: { ...process.env, ...server.environment, PGDATABASE: "crowded" },
        input: sql,
        encoding: "utf8",
      });
    // Better matches than the catalogue's own, for names and for comparing them, found wherever the
    // search path has public.
    psql(`
      create table honest as select 1 as n;
      create table called (by text);
      grant all on called to public;
      create function public.json_build_array(name) returns json language plpgsql as $$
        begin insert into public.called values (current_user); return pg_catalog.json_build_array($1); end $$;`);
    const metadata = await dumped({ ...hostileSource("crowded"), globals: true });
    expect(metadata["dump_format"]).toBe("pg_dump-set");
    expect(psql("select count(*) from called").trim()).toBe("0");
  });
});

test("the schema's hash follows the schema, not the data", async () => {
  const hash = async (): Promise<string> => {
    const dump = await postgresql.dump(server.source, { scratchDir: place.scratch, signal: never });
    try {
      for await (const _ of dump.content);
      return (await dump.metadata()).schema_hash;
    } finally {
      await dump.close();
    }
  };
  const before = await hash();
  server.sql("insert into orders (status) values ('shipped')");
  expect(await hash()).toBe(before);
  for (const [change, undo] of [
    ["alter table orders add column extra int", "alter table orders drop column extra"],
    ["create index orders_note on orders (note)", "drop index orders_note"],
    ["alter table orders alter mood set not null", "alter table orders alter mood drop not null"],
    ["alter table orders alter status type varchar(21)", "alter table orders alter status type varchar(20)"],
    ["alter type mood rename value 'low' to 'lower'", "alter type mood rename value 'lower' to 'low'"],
    ["alter table orders alter note set default 'x'", "alter table orders alter note drop default"],
  ] as const) {
    server.sql("drop view paid");
    server.sql(change);
    expect(await hash(), change).not.toBe(before);
    server.sql(undo);
    server.sql("create view paid as select id, price from orders where status = 'paid'");
    expect(await hash(), undo).toBe(before);
  }
  server.sql("delete from orders where status = 'shipped'");
});

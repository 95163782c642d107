import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tarEnd, tarHeader, tarPadding } from "@attestore/host/tar";
import { readCiphertext } from "../../src/crypto/ciphertext.ts";
import { unseal } from "../../src/crypto/unseal.ts";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import type { EarlierTests } from "../../src/checks/index.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { type RestoreTestResult, restoreAndCheck } from "../../src/runs/restore-and-check.ts";
import { backUp } from "./back-and-test.ts";
import { keptAll, seenTables } from "./earlier-tests-in.ts";
import { childrenNamed, makeTestPlace, type TestPlace, reseal, type Resealed, sizeOf } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

const never = new AbortController().signal;

let place: TestPlace;
let server: SourcePostgres;
let backup: MadeBackup;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourcePostgres(place.dir);
  server.sql(`
    create role seller login password 'hush-hush'; create role "Odd role"; grant seller to "Odd role"; alter role seller set work_mem = '8MB';
    create table here (n int); insert into here values (1), (2);
    create database orders; create database "Bill ing" encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C' template template0; create database empty;
    \\connect orders
    create table items (id int primary key, note text); insert into items select i, repeat('x', 100) from generate_series(1, 50000) i;
    create table small (a int references items (id)); insert into small values (7);
    select lo_from_bytea(0, 'large object');
    \\connect "Bill ing"
    create table bills (n numeric); insert into bills values (1.5), (2.5);
    create policy p on bills to seller using (true);
  `);
  backup = await back({ databases: "all", globals: true });
});

afterAll(async () => {
  await server?.close();
  await place?.remove();
});

function back(more: Partial<SourceConfigOf<"postgresql">>): Promise<MadeBackup> {
  return backUp(place, { ...server.source, ...more });
}

function testIt(
  made: Resealed,
  metadata: Record<string, unknown>,
  checks: SourceConfigOf<"postgresql">["checks"] = [],
  seen?: EarlierTests,
): Promise<RestoreTestResult> {
  return restoreAndCheck({
    source: { ...server.source, checks },
    ciphertext: { path: made.path },
    sha256: made.sha256,
    identities: [place.identity],
    scratchDir: place.scratch,
    backupMetadata: JSON.parse(JSON.stringify({ ...metadata, ...sizeOf(made) })) as Record<string, unknown>,
    ...(seen === undefined ? {} : { seen }),
    signal: never,
  });
}

const nothingLeft = (): void => {
  expect(readdirSync(place.scratch)).toEqual([]);
  for (const name of ["psql", "pg_dump", "pg_restore"]) expect(childrenNamed(name), name).toEqual([]);
};

async function archiveOf(made: MadeBackup): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of unseal(readCiphertext({ path: made.path }), [place.identity]))
    pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

const resealed = (bytes: Buffer): Promise<Resealed> => reseal(place, bytes);

/** Unpacks a set, lets it be changed, and packs what is there as a set has it. */
async function repacked(
  made: MadeBackup,
  change: (directory: string, entries: string[]) => string[],
): Promise<Resealed> {
  const directory = await mkdtemp(join(tmpdir(), "set-"));
  try {
    await writeFile(join(directory, "set.tar"), await archiveOf(made));
    const tar = (...args: string[]): string =>
      execFileSync("tar", args, { cwd: directory, encoding: "utf8" });
    const entries = tar("-tf", "set.tar").trim().split("\n");
    tar("-xf", "set.tar");
    const packed = change(directory, entries);
    const pieces = packed.flatMap((name) => {
      const content = readFileSync(join(directory, name));
      return [tarHeader(name, content.length), content, tarPadding(content.length)];
    });
    return await resealed(Buffer.concat([...pieces, tarEnd()]));
  } finally {
    await rm(directory, { recursive: true });
  }
}

test("each database is dumped, even if the connection is a service that names one", async () => {
  const { PGHOST, PGPORT, PGUSER } = server.environment;
  const services = join(place.dir, "pg_service.conf");
  writeFileSync(services, `[everything]\nhost=${PGHOST}\nport=${PGPORT}\nuser=${PGUSER}\ndbname=orders\n`);
  process.env["PGSERVICEFILE"] = services;
  try {
    const made = await back({
      connection: { kind: "service", name: "everything" },
      databases: ["orders", "Bill ing"],
    });
    const { tables } = made.sourceMetadata as unknown as { tables: { name: string }[] };
    expect(tables.map(({ name }) => name).toSorted()).toEqual([
      '"Bill ing".public.bills',
      "orders.public.items",
      "orders.public.small",
    ]);
    const tested = await testIt(made, made.sourceMetadata, [], seenTables(made));
    expect(tested.reason).toBeUndefined();
    expect(tested.checks).toContainEqual(keptAll(3));
  } finally {
    delete process.env["PGSERVICEFILE"];
  }
  nothingLeft();
});

test("several databases and the server's globals are backed up and restored", async () => {
  expect(backup.sourceMetadata).toMatchObject({
    engine: "postgresql",
    dump_format: "pg_dump-set",
    own_database: "postgres",
    globals: { roles: ["Odd role", "attestore", "seller"], role_count: 3, passwords: true },
    table_count: 4,
    databases: [
      { name: "Bill ing", encoding: "SQL_ASCII" },
      { name: "empty" },
      { name: "orders" },
      { name: "postgres" },
    ],
  });
  expect(JSON.stringify(backup.sourceMetadata["schema_summary"])).toContain('"name":"orders.public.items"');
  const tested = await testIt(backup, backup.sourceMetadata, [
    { id: "own", query: "select count(*) as n from here", expect: "n = 2" },
  ]);
  expect(tested.reason).toBeUndefined();
  expect(tested.result).toBe("passed");
  expect(tested.checks.map(({ id }) => id)).toEqual([
    "inferred:tables:Bill ing",
    'inferred:rows:"Bill ing".public.bills',
    "inferred:tables:orders",
    "inferred:rows:orders.public.items",
    "inferred:rows:orders.public.small",
    "inferred:tables:postgres",
    "inferred:rows:postgres.public.here",
    "inferred:roles",
    "own",
    "inferred:kinds",
    "inferred:schema",
    "inferred:content:Bill ing",
    "inferred:objects:Bill ing",
    "inferred:privileges:Bill ing",
    "inferred:unrestored:Bill ing",
    "inferred:objects:empty",
    "inferred:privileges:empty",
    "inferred:unrestored:empty",
    "inferred:content:orders",
    "inferred:objects:orders",
    "inferred:privileges:orders",
    "inferred:unrestored:orders",
    "inferred:content:postgres",
    "inferred:objects:postgres",
    "inferred:privileges:postgres",
    "inferred:unrestored:postgres",
    "inferred:globals",
    "inferred:foreign_keys:orders",
    "inferred:indexes:orders",
  ]);
  // A sample decides how many rows there seem to be: within 500 of them four times in five.
  const rows: unknown = expect.closeTo(50_000, -4);
  expect(tested.profile).toMatchObject({
    tables: [{ name: "orders.public.items", rows, columns: [{ name: "note" }, { name: "id" }] }],
    left_out: 3,
    suspicious: [],
  });
  nothingLeft();
});

test("tar, cat, psql and pg_restore read it without our programs", async () => {
  const directory = await mkdtemp(join(tmpdir(), "set-"));
  try {
    await writeFile(join(directory, "set.tar"), await archiveOf(backup));
    const shell = (script: string): string =>
      execFileSync("sh", ["-euc", script], { cwd: directory, encoding: "utf8" });
    expect(shell("tar -xf set.tar; cat 003-orders/dump.* | pg_restore --list")).toContain(
      "TABLE DATA public items",
    );
    expect(shell("grep -c 'ROLE seller' globals.sql").trim()).not.toBe("0");
  } finally {
    await rm(directory, { recursive: true });
  }
});

test("a set of databases is dumped by several jobs, in directory format", async () => {
  const made = await back({ databases: ["orders"], jobs: 2 });
  expect(made.sourceMetadata).toMatchObject({
    dump_format: "pg_dump-set",
    globals: null,
    databases: [{ name: "orders" }],
  });
  const entries = execFileSync("tar", ["-tf", "-"], { input: await archiveOf(made), encoding: "utf8" });
  expect(entries).toContain("001-orders/toc.dat");
  const tested = await testIt(made, made.sourceMetadata);
  expect(tested.reason).toBeUndefined();
  expect(tested.result).toBe("passed");
  nothingLeft();
});

describe("damage", () => {
  test("a missing database, part, file or globals fails, and so do an extra entry and another order", async () => {
    const directory = await back({ databases: ["orders"], jobs: 2 });
    const failing = async (
      made: MadeBackup,
      change: (directory: string, entries: string[]) => string[],
    ): Promise<string> => {
      const tested = await testIt(await repacked(made, change), made.sourceMetadata);
      expect(tested).toMatchObject({ result: "failed" });
      nothingLeft();
      return tested.reason ?? "";
    };
    expect(
      await failing(backup, (_, entries) => entries.filter((name) => !name.startsWith("004"))),
    ).toContain("3 databases, but the backup names 4");
    expect(
      await failing(backup, (_, entries) => entries.filter((name) => !name.startsWith("002"))),
    ).toContain("out of order");
    expect(await failing(backup, (_, entries) => entries.filter((name) => name !== "globals.sql"))).toContain(
      "globals",
    );
    expect(await failing(backup, (_, entries) => entries.toReversed())).not.toBe("");
    expect(
      await failing(backup, (_, entries) =>
        entries.filter((name) => !name.startsWith("003-orders/dump.000000")),
      ),
    ).toMatch(/part of a dump is missing|out of order/);
    expect(
      await failing(directory, (_, entries) =>
        entries.filter((name) => name.endsWith("toc.dat") || !/\/[0-9]+\.dat$/.test(name)),
      ),
    ).toContain("pg_restore");
    expect(
      await failing(directory, (_, entries) => entries.filter((name) => !name.endsWith("toc.dat"))),
    ).toContain("pg_restore");
  });

  test("a command in the globals does not run, and a missing role fails the test", async () => {
    const marker = "/tmp/attestore-globals-were-here";
    const made = await repacked(backup, (directory, entries) => {
      writeFileSync(
        join(directory, "globals.sql"),
        `\\restrict abc\ncreate role seller;\n\\unrestrict abc\n\\! touch ${marker}\nselect 1 \\! touch ${marker}\n` +
          "CREATE ROLE loud;\ndo $$ begin create role quiet; end $$;\nGRANT pg_execute_server_program TO attestore_load;\n",
      );
      return entries;
    });
    const tested = await testIt(made, backup.sourceMetadata, [
      {
        id: "made",
        query: `select count(*) filter (where rolname = 'loud') as loud, count(*) filter (where rolname = 'quiet') as quiet,
          (select count(*) from pg_auth_members where member = 'attestore_load'::regrole) as rights from pg_roles where exists (select from here)`,
        expect: "loud = 1 and quiet = 0 and rights = 0",
      },
    ]);
    expect(tested.checks.filter(({ result }) => result === "failed").map(({ id }) => id)).toEqual([
      "inferred:roles",
      "inferred:globals",
    ]);
    expect(existsSync(marker)).toBe(false);
    nothingLeft();
  });

  test("an emptied table and a missing table fail", async () => {
    const tables = (backup.sourceMetadata["tables"] as { name: string; rows: number }[]).map((table) =>
      table.name === "orders.public.small" ? { ...table, rows: table.rows + 1 } : table,
    );
    const tested = await testIt(backup, {
      ...backup.sourceMetadata,
      tables: [...tables, { name: "orders.public.gone" }],
    });
    expect(tested.checks.filter(({ result }) => result === "failed").map(({ id }) => id)).toEqual([
      "inferred:tables:orders",
      "inferred:rows:orders.public.small",
    ]);
  });
});

test("a database whose digests have no room in the receipt is named as not compared", async () => {
  const { tables, databases, ...more } = backup.sourceMetadata as unknown as {
    tables: { name: string }[];
    databases: { name: string; content: object; row_counts: object }[];
  };
  const without = (each: (typeof databases)[number]): object => ({
    ...each,
    content: { ...each.content, large_objects: undefined, rest: null },
    row_counts: { ...each.row_counts, rest: null },
  });
  const tested = await testIt(backup, {
    ...more,
    tables: tables.filter(({ name }) => !name.startsWith("orders.")),
    databases: databases.map((each) => (each.name === "orders" ? without(each) : each)),
  });
  expect(tested.reason).toBeUndefined();
  expect(comparedContentText(tested.checks)).toContain(
    "not compared: the database orders (database_not_compared) and 2 more",
  );
  // Its rows are counted in the copy all the same.
  expect(tested.checks.find(({ id }) => id === "inferred:rest:orders")?.observed).toMatchObject({
    tables: 2,
    rows: 50_001,
  });
});

test("a missing database, and one without access, leave nothing", async () => {
  const before = readdirSync(place.blobs);
  await expect(back({ databases: ["orders", "gone"] })).rejects.toMatchObject({
    code: "source_missing",
    message: expect.stringContaining("gone"),
  });
  process.env["TEST_OTHER_URL"] = server.url("seller", "hush-hush", "orders");
  await expect(
    back({ databases: ["orders"], jobs: 2, connection: { kind: "env", name: "TEST_OTHER_URL" } }),
  ).rejects.toMatchObject({
    code: "dump_failed",
    message: expect.stringContaining("permission denied"),
  });
  expect(readdirSync(place.blobs)).toEqual(before);
  nothingLeft();
});

test("all databases are also templates that somebody made; one that accepts no connections is named, one half removed is left out", async () => {
  server.sql(`create database model template template0 is_template true; create database closed template template0;
    create database half_removed template template0; update pg_database set datconnlimit = -2 where datname = 'half_removed';
    \\connect model
    create table pattern (n int); insert into pattern values (1);
    \\connect postgres
    alter database closed allow_connections false`);
  try {
    const made = await back({ databases: "all" });
    const names = (made.sourceMetadata["databases"] as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(["Bill ing", "empty", "model", "orders", "postgres"]);
    const tested = await testIt(made, made.sourceMetadata);
    expect(tested.reason).toBeUndefined();
    expect(comparedContentText(tested.checks)).toContain(
      "not compared: databases that accept no connections",
    );
    expect(comparedContentText((await testIt(backup, backup.sourceMetadata)).checks)).not.toContain(
      "connections",
    );
    await expect(back({ databases: ["closed"] })).rejects.toMatchObject({ code: "source_missing" });
  } finally {
    server.sql(`alter database model is_template false; drop database model; drop database closed;
      update pg_database set datconnlimit = -1 where datname = 'half_removed'; drop database half_removed`);
  }
});

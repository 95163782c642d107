import { chmod, mkdir, writeFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseSourceConfig, type SourceConfig } from "../../src/config/source-config.ts";
import type { EarlierTests } from "../../src/checks/index.ts";
import { proposeChecks } from "../../src/cli/source/propose-checks.ts";
import { findSqliteSandbox } from "../../src/engines/sqlite/sandbox.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import { type RestoreTestResult, restoreAndCheck } from "../../src/runs/restore-and-check.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { seenIn } from "./earlier-tests-in.ts";
import { makeTestPlace, type TestPlace } from "./scratch.ts";
import { type SourcePostgres, startSourcePostgres } from "./source-postgres.ts";

/** Checks as they stand in config.yaml, against what was really restored. */

const never = new AbortController().signal;
const SECRET = `ca"nary 'of\t42\\ bytes that nobody knows ü`;

let place: TestPlace;
let server: SourcePostgres;
let scripts: string;

beforeAll(async () => {
  place = await makeTestPlace();
  server = await startSourcePostgres(place.dir);
  scripts = join(place.dir, "scripts");
  await mkdir(scripts, { mode: 0o755 });
  await chmod(scripts, 0o755);
  await writeFile(join(place.dir, "canary"), `${SECRET}\nnot this line\n`);
  process.env["TEST_CANARY"] = SECRET;
  process.env["TEST_SHORT_CANARY"] = "too short";
  server.sql(`
    create table orders (id int primary key, placed_at timestamptz not null, region text);
    insert into orders select i, now() - i * interval '1 hour', 'eu-' || i from generate_series(1, 100) i;
    create table canary (token text, bytes bytea);
    insert into canary values (E'${SECRET.replaceAll("\\", "\\\\").replaceAll("'", "''")}', convert_to(E'${SECRET.replaceAll("\\", "\\\\").replaceAll("'", "''")}', 'UTF8'));
    create database empty;
  `);
  const sqlite = new DatabaseSync(join(place.dir, "kv.db"));
  sqlite.exec(
    "create table kv (k integer primary key, v text); insert into kv values (1, 'one'), (2, 'two');",
  );
  sqlite.close();
  new DatabaseSync(join(place.dir, "empty.db")).close();
  await mkdir(join(place.dir, "tree"));
  await writeFile(join(place.dir, "tree", "file"), "content");
});
afterAll(async () => {
  delete process.env["TEST_CANARY"];
  delete process.env["TEST_SHORT_CANARY"];
  await server?.close();
  await place?.remove();
});

const SOURCES: Readonly<Record<string, Record<string, unknown>>> = {
  orders: { engine: "postgresql", connection: "env:TEST_SOURCE_URL" },
  empty: { engine: "postgresql", connection: "env:TEST_EMPTY_URL" },
  kv: { engine: "sqlite", path: "kv.db" },
  "empty-kv": { engine: "sqlite", path: "empty.db" },
  tree: { engine: "files", path: "tree" },
  "shop-kv": { engine: "sqlite", path: "shop.db" },
  shop: { engine: "postgresql", connection: "env:TEST_SHOP_URL" },
};

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}

/** A program that anybody may run. */
async function script(name: string, text: string): Promise<string> {
  const path = join(scripts, name);
  await writeFile(path, text);
  await chmod(path, 0o755);
  return path;
}

const backups = new Map<string, Promise<MadeBackup>>();

function backupOf(source: SourceConfig): Promise<MadeBackup> {
  const made = backups.get(source.slug) ?? backUp(place, source);
  backups.set(source.slug, made);
  return made;
}

async function run(
  name: string,
  checks: readonly Record<string, unknown>[],
  more: Record<string, unknown> = {},
  seen?: EarlierTests,
): Promise<RestoreTestResult> {
  process.env["TEST_EMPTY_URL"] = server.url("attestore", "", "empty");
  process.env["TEST_SHOP_URL"] = server.url("attestore", "", "shop");
  const source: SourceConfig = parseSourceConfig(name, { ...SOURCES[name], ...more, checks }, place.dir);
  const backup = await backupOf(source);
  const tested = await testBackup(place, source, backup, { seen });
  expect(readdirSync(place.scratch)).toEqual([]);
  return tested;
}

const named = (tested: RestoreTestResult, id: string) => {
  const check = tested.checks.find((each) => each.id === id);
  if (check === undefined) throw new Error(`no check ${id}`);
  return check;
};

describe("a canary", () => {
  const canary = (id: string, query: string, from = "env:TEST_CANARY") => ({ id, query, canary: from });

  test("is held byte for byte, and no receipt shows it", async () => {
    const tested = await run("orders", [
      canary("text", "select token from canary"),
      canary("bytes", "select bytes from canary", "file:canary"),
    ]);
    expect(tested.reason).toBeUndefined();
    expect(tested.result).toBe("passed");
    for (const id of ["text", "bytes"]) {
      expect(named(tested, id)).toMatchObject({
        observed: { canary: "held" },
        expectation: "the one value of the row is the canary, byte for byte",
        result: "passed",
      });
    }
  });

  test("fails if it comes back changed, and the receipt does not show what came", async () => {
    const cases: [id: string, query: string, error: string][] = [
      ["another-case", "select upper(token) as t from canary", "the value is different"],
      ["one-byte-more", "select token || ' ' as t from canary", "the value is different"],
      ["null", "select null::text as t", "the value is NULL"],
      ["no-row", "select token from canary where false", "the query returned no row"],
      ["two-rows", "select token from canary, generate_series(1, 2)", "the query returned more than one row"],
      ["two-columns", "select token, 1 as n from canary", "the row has 2 columns: select the canary alone"],
      ["number", "select 1 as n", "the value is not text"],
      ["mistake", "select token::int as n from canary", "the query failed (SQLSTATE 22P02)"],
    ];
    const tested = await run(
      "orders",
      cases.map(([id, query]) => canary(id, query)),
    );
    expect(tested.result).toBe("failed");
    for (const [id, , error] of cases)
      expect(named(tested, id)).toMatchObject({
        result: "failed",
        observed: { canary: "not held", error },
      });
    expect(JSON.stringify(tested)).not.toContain("nobody knows");
  });

  test("is left out of the receipt if another check selects it", async () => {
    const tested = await run("orders", [
      canary("secret", "select token from canary"),
      { id: "leak", query: "select token, bytes, 1 as n from canary", expect: "n = 1" },
      {
        id: "deep",
        query: "select json_build_array(repeat('x', 300), token) as j, 1 as n from canary",
        expect: "n = 1",
      },
      { id: "hex", query: "select upper(encode(bytes, 'hex')) as h from canary", expect: "h is not null" },
      { id: "mistake", query: "select token::int as n from canary", expect: "n = 1" },
      {
        id: "printed",
        command: [
          await script(
            "leak",
            `#!/bin/sh\npsql -XAtc "select json_build_object('n', 1, 'token', token) from canary" restored\n`,
          ),
        ],
        expect: "n = 1",
      },
    ]);
    for (const id of ["leak", "deep", "hex", "printed"])
      expect(named(tested, id).observed).toEqual({ withheld: "the observed values contain a canary" });
    expect(JSON.stringify(tested)).not.toMatch(/nobody knows|6e6f626f6479/i);
  });

  test("a secret that is unusable keeps the test from running, and the message does not quote it", async () => {
    const select = "select token from canary";
    for (const [check, message] of [
      [canary("secret", select, "env:TEST_NOT_SET"), /TEST_NOT_SET is not set/],
      [canary("secret", select, "file:nowhere"), /nowhere cannot be read/],
      [canary("secret", select, "env:TEST_SHORT_CANARY"), /16 to 4096 bytes/],
      [canary("secret", `select '${SECRET.replaceAll("'", "''")}' as t`), /^(?!.*nobody knows)/],
    ] as const) {
      const failed = run("orders", [check]);
      if (check.query === select) {
        await expect(failed).rejects.toMatchObject({
          code: "canary_unusable",
          message: expect.stringMatching(message),
        });
      } else await failed.catch((error: unknown) => expect(String(error)).toMatch(message));
    }
    const plain = "a plain canary of 31 characters";
    process.env["TEST_CANARY"] = plain;
    await expect(run("orders", [canary("secret", `select '${plain}' as t`)])).rejects.toMatchObject({
      code: "canary_unusable",
      message: expect.stringMatching(/appears in check secret itself/),
    });
    process.env["TEST_CANARY"] = SECRET;
  });
});

describe("a command", () => {
  test("finds the restored PostgreSQL through its environment, and its JSON object is the row", async () => {
    const path = await script(
      "count",
      `#!/bin/sh\npsql -XAtc "select row_to_json(t) from (select count(*) as n, '$1' as said, current_setting('transaction_read_only') as ro from orders) t"\n`,
    );
    const tested = await run("orders", [
      { id: "counted", command: [path, "a b; $(c)"], expect: "n = 100 and said = 'a b; $(c)' and ro = 'on'" },
    ]);
    expect(tested.reason).toBeUndefined();
    expect(tested.result).toBe("passed");
    expect(named(tested, "counted")).toMatchObject({ observed: { n: 100, said: "a b; $(c)", ro: "on" } });
  });

  test("finds a restored file and tree through its environment", async () => {
    const sqlite = await script(
      "kv",
      `#!/bin/sh\nsqlite3 -json "$ATTESTORE_RESTORED" 'select count(*) as n from kv' | tr -d '[]'\n`,
    );
    expect((await run("kv", [{ id: "n", command: sqlite, expect: "n = 2" }])).result).toBe("passed");
    const tree = await script(
      "tree",
      `#!/bin/sh\nprintf '{"content":"%s"}' "$(cat "$ATTESTORE_RESTORED/file")"\n`,
    );
    expect((await run("tree", [{ id: "c", command: tree, expect: "content = 'content'" }])).result).toBe(
      "passed",
    );
  });

  test("fails for wrong output and for a wrong end, with a reason for each", async () => {
    const printed: Record<string, [json: string, observed: unknown]> = {
      "not-met": [`{"n":1}`, { n: 1 }],
      "no-json": ["n = 2", { error: "the row is not JSON" }],
      "two-objects": [`{"n":2}{"n":2}`, { error: "the row is not JSON" }],
      "no-object": ["[2]", { error: "the row is not a JSON object" }],
      nothing: ["", { error: "the row is not JSON" }],
    };
    const ended: Record<string, [text: string, error: unknown]> = {
      "exit-code": [
        `echo '{"n":2}'; echo secret of the data >&2; exit 3`,
        "the command ended with exit code 3",
      ],
      endless: ["yes", expect.stringMatching(/printed more than 262144 bytes/)],
      "not-utf-8": [`printf '{"n":"\\377"}'`, "the command's output is not UTF-8"],
    };
    const checks = [];
    for (const [id, [json]] of Object.entries(printed))
      checks.push({ id, command: await script(id, `#!/bin/sh\nprintf '%s' '${json}'\n`), expect: "n = 2" });
    for (const [id, [text]] of Object.entries(ended))
      checks.push({ id, command: await script(id, `#!/bin/sh\n${text}\n`), expect: "n = 2" });
    const tested = await run("kv", checks);
    expect(tested.result).toBe("failed");
    for (const [id, [, observed]] of Object.entries(printed)) {
      expect(named(tested, id).result, id).toBe("failed");
      expect(named(tested, id).observed, id).toEqual(observed);
    }
    for (const [id, [, error]] of Object.entries(ended)) {
      expect(named(tested, id).result, id).toBe("failed");
      expect(named(tested, id).observed["error"], id).toEqual(error);
    }
    expect(JSON.stringify(tested)).not.toContain("secret of the data");
  });

  test("that does not exist gives no result; one that does not end fails and leaves nothing running", async () => {
    await expect(
      run("kv", [{ id: "n", command: "/no/such/program", expect: "n = 2" }]),
    ).rejects.toMatchObject({
      code: "tool_missing",
    });
    const long = `1000.${process.pid}`;
    const endless = await script("endless", `#!/bin/sh\nsleep ${long} & wait\n`);
    const sleeps = (): boolean =>
      readdirSync("/proc").some(
        (pid) => /^[0-9]+$/.test(pid) && commandLine(pid).startsWith(`sleep\0${long}`),
      );
    const running = run("kv", [{ id: "n", command: endless, expect: "n = 2" }], { check_timeout_s: 5 });
    await expect.poll(sleeps).toBe(true);
    const tested = await running;
    expect(tested.result).toBe("failed");
    expect(named(tested, "n").observed).toEqual({
      error:
        "the command did not end within 5 s: give the source's checks more time (check_timeout_s in config.yaml) or make it cheaper",
    });
    await expect.poll(sleeps).toBe(false);
    expect(readdirSync(place.scratch)).toEqual([]);
  });

  test("runs last, so its changes to the data affect no other check", async () => {
    const path = await script(
      "spoil",
      `#!/bin/sh\nsqlite3 "$ATTESTORE_RESTORED" "update kv set v = 'spoilt'" && echo '{"ok":true}'\n`,
    );
    const tested = await run("kv", [
      { id: "spoil", command: path, expect: "ok" },
      { id: "one", query: "select v from kv where k = 1", expect: "v = 'one'" },
    ]);
    expect(tested.result).toBe("passed");
  });
});

test("age() and matches read values as each database prints them", async () => {
  const tested = await run("orders", [
    {
      id: "fresh",
      query: "select max(placed_at) as newest from orders",
      expect: "age(newest) between 59m and 26h",
    },
    {
      id: "plain",
      query: "select max(placed_at at time zone 'UTC') as newest from orders",
      expect: "age(newest) < 26h or newest is not null",
    },
    {
      id: "epoch",
      query: "select extract(epoch from max(placed_at)) as at from orders",
      expect: "age(at) < 26h",
    },
    { id: "region", query: "select min(region) as r from orders", expect: "r matches 'eu-\\d+'" },
  ]);
  expect(Object.fromEntries(tested.checks.map(({ id, result }) => [id, result]))).toMatchObject({
    fresh: "passed",
    plain: "failed",
    epoch: "passed",
    region: "passed",
  });
  expect(named(tested, "plain").observed["error"]).toMatch(/has no time zone/);
});

describe("a check that reads no data is no pass", () => {
  const one = { id: "one", query: "select 1 as n", expect: "n = 1" };

  test.each([
    ["empty", { id: "tables", query: "select count(*) as n from pg_class", expect: "n > 0" }],
    ["empty-kv", { id: "tables", query: "select count(*) as n from sqlite_schema", expect: "n = 0" }],
  ] as const)(
    "a constant, the catalogue, and a command that nobody can look into, where there is nothing to read: %s",
    async (name, tables) => {
      const command = await script("yes", `#!/bin/sh\necho '{"ok":true}'\n`);
      const tested = await run(name, [one, tables, { id: "command", command, expect: "ok" }]);
      expect(tested).toMatchObject({ result: "failed", reason: "no check read any data" });
      expect(tested.checks.map(({ id, result }) => [id, result])).toEqual([
        ["one", "passed"],
        ["tables", "passed"],
        ["command", "passed"],
      ]);
    },
  );

  test("a table counts as data, also through a function, a view and parallel workers", async () => {
    server.sql(`
      create table large as select i from generate_series(1, 200000) i;
      create index on large (i);
      analyze large;
      create view seen as select * from large;
      create function counted() returns bigint language plpgsql as 'begin return (select count(*) from large); end';
      alter database postgres set max_parallel_workers_per_gather = 2;
    `);
    // Inferred checks would use the time too: only the configured ones run here.
    const { RestoredPostgresql } = await import("../../src/engines/postgresql/restored.ts");
    const { programsIn } = await import("../../src/processes/run-program.ts");
    const { findInstallations } = await import("../../src/engines/postgresql/installations.ts");
    const [installation] = await findInstallations(["postgres", "psql"]);
    if (installation === undefined) throw new Error("no PostgreSQL (run tools/setup test)");
    const restored = new RestoredPostgresql(
      {
        runtime: { kind: "process", engine: "postgresql", engine_version: installation.version },
        run: programsIn(installation.bin, {
          ...server.environment,
          PGOPTIONS: "",
        }),
        files: null,
        errors: [],
        hasRunFull: () => false,
        hasDied: () => false,
        close: () => Promise.resolve(),
      },
      "postgres",
    );
    const parallel =
      "set parallel_setup_cost = 0; set parallel_tuple_cost = 0; set min_parallel_table_scan_size = 0; set min_parallel_index_scan_size = 0; set parallel_leader_participation = off";
    for (const setting of parallel.split("; ")) server.sql(`alter database postgres ${setting}`);
    for (const query of [
      "select count(*) as n from large",
      "select count(*) as n from large where i > 5",
      "select i as n from large where i = 7",
      "select count(*) as n from seen",
      "select counted() as n",
    ])
      expect(await restored.query(query, { timeout_s: 60, signal: never }), query).toEqual({
        kind: "rows",
        rows: [expect.any(String)],
      });
    for (const query of ["select 1 as n", "select count(*) as n from pg_tables", "select 1 as n where false"])
      expect(await restored.query(query, { timeout_s: 60, signal: never }), query).toMatchObject({
        readsNoData: true,
      });
  });
});

test("a copy that took the database's name is another database", async () => {
  server.sql(`create database place; create database staging template place`);
  process.env["TEST_PLACE_URL"] = server.url("attestore", "", "place");
  const source = parseSourceConfig(
    "place",
    { engine: "postgresql", connection: "env:TEST_PLACE_URL" },
    place.dir,
  );
  const identity = async () => {
    const dump = await backUp(place, source);
    return dump.origin.identity;
  };
  const before = await identity();
  expect(await identity()).toEqual(before);
  server.sql("alter database place rename to former; alter database staging rename to place");
  const after = await identity();
  expect(after).not.toEqual(before);
  expect(after).toMatchObject({ database: "place", system_identifier: before["system_identifier"] });
});

describe("rows that a table had when last a test passed", () => {
  test.each([
    [3, [], "passed", "rows = 2 and rows >= 2"],
    [5, [], "failed", "rows = 2 and rows >= 3"],
    [999, [], "failed", "rows = 2 and rows >= 500"],
    [999, ["kv"], "passed", "rows = 2"],
  ] as const)("%i, may shrink: %j: %s", async (rows, mayShrink, result, expectation) => {
    const source = parseSourceConfig("kv", SOURCES["kv"], place.dir);
    const seen = seenIn([{ id: "inferred:rows:kv", observed: { rows } }], mayShrink);
    const tested = await testOf(source, await backupOf(source), seen);
    expect(tested.result).toBe(result);
    expect(named(tested, "inferred:rows:kv")).toMatchObject({ expectation, observed: { rows: 2 }, result });
  });

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

  const testOf = (
    source: SourceConfig,
    backup: MadeBackup,
    seen?: EarlierTests,
  ): Promise<RestoreTestResult> =>
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
});

describe("a check is tried on ruined data", () => {
  const SHOP = `
    create table orders (id int primary key, placed_at timestamptz not null, total numeric check (total is not null), note text);
    create table lines (id int primary key, order_id int not null references orders on delete cascade);
    create table archive (id int) partition by range (id);
    create table archive_1 partition of archive for values from (1) to (1000);
    insert into orders select i, now() - i * interval '1 hour', i, 'n' || i from generate_series(1, 100) i;
    insert into lines select i, i from generate_series(1, 100) i;
    insert into archive select i from generate_series(1, 10) i;
    create function kept() returns trigger language plpgsql as $$ begin raise exception 'kept'; end $$;
    create trigger kept before delete or update or truncate on orders execute function kept();
    create rule silent as on update to orders do instead nothing;
    create view newest as select max(placed_at) as at from orders;
    create materialized view summary as select count(*) as n from orders;
    create function ordered() returns bigint language sql as 'select count(*) from orders';
  `;
  const checks = [
    { id: "any", query: "select count(*) as n from orders", expect: "n >= 0" },
    { id: "some", query: "select count(*) as n from orders", expect: "n >= 100" },
    { id: "fresh", query: "select at as newest from newest", expect: "age(newest) < 26h" },
    {
      id: "stale",
      query: "select max(placed_at) as newest, count(note) as notes from orders",
      expect: "newest is not null",
    },
    {
      id: "orphans",
      query: "select count(*) as n from lines l left join orders o on o.id = l.order_id where o.id is null",
      expect: "n = 0",
    },
    { id: "by-function", query: "select ordered() as n", expect: "n = 100" },
    { id: "parts", query: "select count(*) as n from archive", expect: "n = 10" },
    { id: "stored", query: "select n from summary", expect: "n = 100" },
    { id: "nothing", query: "select 1 as n", expect: "n = 1" },
  ];
  const controlsOf = (tested: RestoreTestResult) =>
    Object.fromEntries(
      checks.map(({ id }) => {
        const control = named(tested, id).negative_control;
        if (control === undefined) throw new Error(`${id} has no negative control`);
        const { at: _, ...ways } = control;
        return [id, ways];
      }),
    );

  test("in PostgreSQL: the receipt names what each check would not notice, and the result does not change", async () => {
    server.sql("create database shop");
    server.sql(`\\connect shop\n${SHOP}`);
    const tested = await run("shop", checks);
    expect(tested.reason).toBeUndefined();
    expect(tested.result).toBe("passed");
    const [noticed, not_noticed, not_tried] = [[], [], []];
    expect(controlsOf(tested)).toEqual({
      any: { noticed, not_noticed: ["an empty public.orders"], not_tried },
      some: { noticed: ["an empty public.orders"], not_noticed, not_tried },
      fresh: {
        noticed: ["an empty public.orders", "public.orders.placed_at a year older"],
        not_noticed,
        not_tried,
      },
      stale: {
        noticed: ["an empty public.orders"],
        not_noticed: ["public.orders.note null in every row", "public.orders.placed_at a year older"],
        not_tried,
      },
      orphans: { noticed: ["an empty public.orders"], not_noticed: ["an empty public.lines"], not_tried },
      "by-function": { noticed: ["an empty public.orders"], not_noticed, not_tried },
      parts: {
        noticed: ["an empty public.archive"],
        not_noticed,
        not_tried,
      },
      stored: { noticed, not_noticed, not_tried: ["an empty public.summary: it is no table"] },
      nothing: { noticed, not_noticed, not_tried: ["ruined data: the check reads no table"] },
    });

    // A passed test has tried these definitions: their record goes on, whatever the check's place.
    const seen = seenIn(tested.checks);
    const again = await run("shop", checks.slice(0, 2), {}, seen);
    for (const { id } of checks.slice(0, 2))
      expect(named(again, id).negative_control).toEqual(named(tested, id).negative_control);
    const changed = await run("shop", [{ ...checks[0], expect: "n >= 1" }], {}, seen);
    expect(named(changed, "any").negative_control).toMatchObject({ noticed: ["an empty public.orders"] });
  });

  test("in SQLite: the same, against triggers, constraints and foreign keys", async () => {
    const file = join(place.dir, "shop.db");
    const sqlite = new DatabaseSync(file);
    sqlite.exec(`
      create table orders (id integer primary key, placed_at text not null, paid datetime, note text check (note is not null));
      create table lines (id integer primary key, order_id integer not null references orders);
      insert into orders select value, '2026-11-0' || value || 'T10:00:00Z', 1795000000 + value, 'n' || value from json_each('[1,2,3,4,5]');
      insert into lines select id, id from orders;
      create trigger kept before delete on orders begin select raise(abort, 'kept'); end;
      create view newest as select max(placed_at) as at from orders;
    `);
    sqlite.close();
    const own = [
      { id: "any", query: "select count(*) as n from orders", expect: "n >= 0" },
      { id: "some", query: "select count(*) as n from orders;", expect: "n = 5" },
      { id: "fresh", query: "select at as newest from newest", expect: "newest matches '2026.*'" },
      {
        id: "paid",
        query: "select max(paid) as paid, count(note) as notes from orders",
        expect: "paid > 1795000000",
      },
      { id: "orphans", query: checks.find(({ id }) => id === "orphans")?.query, expect: "n = 0" },
      { id: "nothing", query: "select 1 as n", expect: "n = 1" },
    ];
    const tested = await run("shop-kv", own);
    expect(tested.reason).toBeUndefined();
    const [noticed, not_noticed, not_tried] = [[], [], []];
    const ways = Object.fromEntries(own.map(({ id }) => [id, named(tested, id).negative_control]));
    expect(ways).toMatchObject({
      any: { noticed, not_noticed: ["an empty orders"], not_tried },
      some: { noticed: ["an empty orders"], not_noticed, not_tried },
      fresh: { noticed: ["an empty orders", "orders.placed_at a year older"], not_noticed, not_tried },
      paid: {
        noticed: ["an empty orders", "orders.paid null in every row", "orders.paid a year older"],
        not_noticed: ["orders.note null in every row"],
        not_tried,
      },
      orphans: { noticed: ["an empty orders"], not_noticed: ["an empty lines"], not_tried },
      nothing: { noticed, not_noticed, not_tried: ["ruined data: the check reads no table"] },
    });

    // What `source add` proposes notices all that is tried; a query without end ends no restore
    // test.
    const source = parseSourceConfig("shop-kv", { ...SOURCES["shop-kv"] }, place.dir);
    const { sourceMetadata } = await backupOf(source);
    const context = { scratchDir: place.scratch, signal: new AbortController().signal };
    const { checks: proposed } = await proposeChecks(source, sourceMetadata, context);
    expect(proposed.map(({ id }) => id).toSorted()).toEqual(["has-lines", "has-orders"]);
    const endless = {
      id: "endless",
      query: `with recursive n(i) as (select 1 union all select i + 1 from n where not exists (select 1 from orders))
        select count(*) as n from n`,
      expect: "n = 1",
    };
    const limited = await run("shop-kv", [...proposed.map((each) => ({ ...each })), endless], {
      limits: { time_s: 12 },
    });
    expect(limited.result).toBe("passed");
    expect(named(limited, "has-orders").negative_control).toMatchObject({
      noticed: ["an empty orders"],
      not_noticed,
      not_tried,
    });
    expect(named(limited, "has-lines").negative_control).toMatchObject({
      noticed: ["an empty lines"],
      not_noticed,
      not_tried,
    });
    expect(named(limited, "endless").negative_control).toMatchObject({
      noticed,
      not_noticed,
      not_tried: ["ruined data: no time was left"],
    });
  });

  test("in SQLite: the copy is unchanged to the bit, also if the ruin was killed halfway", async () => {
    const file = join(place.dir, "large.db");
    const sqlite = new DatabaseSync(file);
    // More than SQLite's cache holds: a ruin is in the file itself before it is rolled back.
    sqlite.exec(`
      create table large (id integer primary key, v text);
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000)
        insert into large select i, printf('%.2000c', 'v') from n;
    `);
    sqlite.close();
    const content = readFileSync(file);
    const sandbox = await findSqliteSandbox();
    const restored = await sandbox.restore(Readable.from([content]), {
      scratchDir: place.scratch,
      signal: never,
    });
    const files = async () => {
      const child = await restored.startCommand?.(["/bin/sh", "-c", "sha256sum restored.sqlite*"], never);
      if (child === undefined) throw new Error("no command can look at the copy");
      const lines = await text(child.stdout);
      await child.exited;
      return lines;
    };
    const before = `${createHash("sha256").update(content).digest("hex")}  restored.sqlite\n`;
    try {
      expect(await files()).toBe(before);
      const limits = { timeout_s: 60, signal: never };
      const ruined = await restored.ruin?.("select count(v) as n from large", {
        ...limits,
        budget_ms: 60_000,
      });
      expect(ruined).toEqual([
        { how: "an empty large", outcome: { kind: "rows", rows: ['{"n":0}'] } },
        { how: "large.v null in every row", outcome: { kind: "rows", rows: ['{"n":0}'] } },
      ]);
      expect(await files()).toBe(before);

      // Never ends once every v is null, so the process is killed with that change in the file.
      const endless = `with recursive n(i) as (select 1 union all select i + 1 from n
        where exists (select 1 from large) and not exists (select 1 from large where v is not null))
        select count(*) as n from n`;
      const killed = await restored.ruin?.(endless, { ...limits, budget_ms: 5_000 });
      expect(killed).toEqual([
        { how: "ruined data", outcome: { kind: "not_tried", reason: "no time was left" } },
      ]);
      expect(await files()).toBe(before);
      expect(await restored.query("select count(v) as n from large", limits)).toEqual({
        kind: "rows",
        rows: ['{"n":4000}'],
      });
    } finally {
      await restored.close();
    }
  });

  test("a copy that breaks while it is ruined does not change the result", async () => {
    const tested = await run("shop", [
      {
        id: "ends",
        query:
          "select count(*) as n, case when count(*) < 100 then pg_terminate_backend(pg_backend_pid()) end as gone from orders",
        expect: "n = 100",
      },
    ]);
    expect(tested.result).toBe("passed");
    expect(named(tested, "ends").negative_control).toMatchObject({
      noticed: [],
      not_tried: [expect.stringContaining("could no longer be used")],
    });
    const failing = await run("shop", [
      { id: "wrong", query: "select count(*) as n from orders", expect: "n = 1" },
    ]);
    expect(named(failing, "wrong")).not.toHaveProperty("negative_control");
  });
});

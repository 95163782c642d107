import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createShop, MARKER, startDatabaseServer, type DatabaseServer } from "./harness/database.ts";
import { filesUnder } from "./harness/files.ts";
import { attachedHost, type Host } from "./harness/host.ts";
import { api } from "./harness/https.ts";
import { createAuthKey, type Organisation } from "./harness/organisation.ts";
import type { Finished } from "./harness/programs.ts";
import { startServer, type Server } from "./harness/server.ts";
import { signUp } from "./harness/session.ts";
import { until } from "./harness/wait.ts";

/**
 * Never a false pass: whatever is wrong with the data, no exit code 0 and no receipt that says
 * passed.
 */

let server: Server;
let owner: { token: string; orgId: string };
let org: Organisation;
let database: DatabaseServer;
let data: string;
let host: Host;

beforeAll(async () => {
  server = await startServer();
  owner = await signUp([server]);
  org = { server, id: owner.orgId, authKey: await createAuthKey(server, owner.orgId) };
  database = await startDatabaseServer();
  createShop(database, "shop");
  database.sql("postgres", "create database hollow");
  data = mkdtempSync(join(tmpdir(), "attestore-e2e-damage-"));
  new DatabaseSync(join(data, "hollow.db")).close();
  const kv = new DatabaseSync(join(data, "kv.db"));
  kv.exec(
    `create table kv (k integer primary key, v text); insert into kv values (1, 'fine'), (2, '${MARKER}');`,
  );
  kv.close();
  // Of several chunks of age and frames of zstd.
  const large = new DatabaseSync(join(data, "large.db"));
  large.exec(`
    create table noise (n integer primary key, text text, bytes blob);
    with recursive n (i) as (select 1 union all select i + 1 from n where i < 40)
    insert into noise select i, '${MARKER}', randomblob(100000) from n;
  `);
  large.close();
  mkdirSync(join(data, "hollow"));
  host = await attachedHost(org, { SHOP_URL: database.url("shop"), HOLLOW_URL: database.url("hollow") });
  host.addSources(`  shop:
    engine: postgresql
    connection: env:SHOP_URL
    checks:
      - { id: has-orders, query: "select count(*) as n from orders", expect: "n >= 1000" }
  kv:
    engine: sqlite
    path: ${join(data, "kv.db")}
    checks:
      - { id: value, query: "select v from kv where k = 1", expect: "v = 'fine'" }
  large: { engine: sqlite, path: "${join(data, "large.db")}" }
  hollow-postgresql: { engine: postgresql, connection: "env:HOLLOW_URL" }
  hollow-sqlite: { engine: sqlite, path: "${join(data, "hollow.db")}" }
  hollow-files: { engine: files, path: "${join(data, "hollow")}" }
`);
});
afterAll(async () => {
  host.remove();
  rmSync(data, { recursive: true, force: true });
  await database.stop();
  await server.remove();
});

afterEach(() => {
  expect(host.plaintext()).toEqual([]);
  expect(host.processes()).toEqual([]);
});

async function backUp(source: string): Promise<void> {
  const { code, stdout, stderr } = await host.run("backup", "--source", source);
  expect(code, stdout + stderr).toBe(0);
}

/** What a restore test says, and how many more receipts say passed since. */
async function test(
  source: string,
): Promise<Finished & { result?: string; reason?: string; passes: number }> {
  const passes = (): number =>
    host.receipts().filter(({ statement }) => statement.predicate["result"] === "passed").length;
  const before = passes();
  const finished = await host.run("restore-test", "--source", source, "--json");
  const said = finished.stdout.startsWith("{")
    ? (JSON.parse(finished.stdout) as { result?: string; reason?: string })
    : {};
  return { ...finished, ...said, passes: passes() - before };
}

function newestObject(): string {
  const [newest] = filesUnder(join(server.data, "objects"))
    .filter((file) => file.endsWith(".age"))
    .toSorted((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  if (!newest) throw new Error("nothing is stored");
  return newest;
}

describe("data that is wrong", () => {
  it("fails the check that covers it; the receipt has the check's observation, which does not leave the service", async () => {
    const channels = `/api/orgs/${org.id}/notifications/channels`;
    const json = { kind: "webhook", url: "https://hooks.example.org/", types: ["restore_test.failed"] };
    const added = await api(server, { method: "POST", path: channels, token: owner.token, json });
    expect(added.status, added.body.toString()).toBe(201);
    await backUp("shop");
    expect(await test("shop")).toMatchObject({ code: 0, result: "passed", passes: 1 });
    database.sql("shop", "delete from orders where id > 10");
    await backUp("shop");
    const before = host.receipts().length;
    const failed = await test("shop");
    expect(failed).toMatchObject({ code: 1, result: "failed", passes: 0 });
    expect(failed.reason).toContain("has-orders");
    // What makes the next lines a test: the reason in the receipt quotes what the check saw.
    expect(failed.reason).toContain('observed {"n":10}');
    const get = (path: string) => api(server, { method: "GET", path, token: owner.token });
    const sent = await until("the failure is told", async () => {
      const list = await get(`/api/orgs/${org.id}/notifications/deliveries`);
      const [first] = list.json<{ items: { id: string }[] }>().items;
      return first && (await get(`/api/orgs/${org.id}/notifications/deliveries/${first.id}`));
    });
    const { data } = sent.json<{ data: Record<string, unknown> }>();
    expect(data).toMatchObject({
      cause: { reason: "check_failed" },
      failed_checks: expect.arrayContaining([{ id: "has-orders", expectation: "n >= 1000" }]),
    });
    expect(JSON.stringify(data)).not.toMatch(/observed|"n":/);
    const receipts = host.receipts();
    expect(receipts).toHaveLength(before + 1);
    const results = receipts.map(({ statement }) => statement.predicate["result"]);
    expect(results.filter((result) => result === "failed")).toHaveLength(1);
    database.sql("shop", "insert into orders select n, 1, now(), 'again' from generate_series(11, 2000) n");
  });

  it("fails a check that expects another value than the data has", async () => {
    await backUp("kv");
    expect(await test("kv")).toMatchObject({ code: 0, result: "passed", passes: 1 });
    const kv = new DatabaseSync(join(data, "kv.db"));
    kv.exec("update kv set v = 'spoilt'");
    kv.close();
    await backUp("kv");
    expect(await test("kv")).toMatchObject({ code: 1, result: "failed", passes: 0 });
  });

  it.each(["hollow-postgresql", "hollow-sqlite", "hollow-files"])(
    "of %s, where nothing is left to check, fails and never passes",
    async (source) => {
      await backUp(source);
      const failed = await test(source);
      expect(failed).toMatchObject({ code: 1, result: "failed", passes: 0 });
      expect(failed.reason).toMatch(/check/);
    },
  );
});

describe("a stored ciphertext", () => {
  // SQLite, because it restores at once; what is wrong with a ciphertext is no matter of the
  // engine.
  const spoil = async (
    what: (path: string) => void,
    source = "large",
  ): Promise<Awaited<ReturnType<typeof test>>> => {
    await backUp(source);
    what(newestObject());
    return test(source);
  };

  it("of a PostgreSQL database fails when one of its bits is flipped", async () => {
    const failed = await spoil((path) => {
      const bytes = readFileSync(path);
      bytes[Math.floor(bytes.length / 2)] = (bytes[Math.floor(bytes.length / 2)] ?? 0) ^ 1;
      writeFileSync(path, bytes);
    }, "shop");
    expect(failed, failed.stderr).toMatchObject({ code: 1, result: "failed", passes: 0 });
  });

  it.each<[string, (size: number) => number]>([
    ["in its header", () => 30],
    ["just after its header", () => 250],
    ["in its middle", (size) => Math.floor(size / 2)],
    ["at its end", (size) => size - 1],
  ])("of which one bit is flipped %s fails", async (_where, at) => {
    const failed = await spoil((path) => {
      const bytes = readFileSync(path);
      const offset = at(bytes.length);
      bytes[offset] = (bytes[offset] ?? 0) ^ 1;
      writeFileSync(path, bytes);
    });
    expect(failed, failed.stderr).toMatchObject({ code: 1, result: "failed", passes: 0 });
  });

  it.each<[string, (path: string) => void]>([
    ["is cut short", (path) => truncateSync(path, Math.floor(statSync(path).size / 2))],
    ["is empty", (path) => truncateSync(path, 0)],
    ["is longer", (path) => writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.alloc(100)]))],
    [
      "is a good one of another time",
      (path) => {
        const other = filesUnder(join(server.data, "objects")).find(
          (file) => file.endsWith(".age") && file !== path,
        );
        writeFileSync(path, readFileSync(other ?? ""));
      },
    ],
  ])("that %s does not pass", async (_how, change) => {
    const failed = await spoil(change);
    expect([1, 2], failed.stderr).toContain(failed.code);
    expect(failed.passes).toBe(0);
    expect(failed.result).not.toBe("passed");
  });

  it('that is missing ends the test as "could not run"', async () => {
    const failed = await spoil((path) => rmSync(path));
    expect([1, 2], failed.stderr).toContain(failed.code);
    expect(failed.passes).toBe(0);
  });

  it("is never restored to a file in part when it is damaged", async () => {
    await spoil((path) => {
      const bytes = readFileSync(path);
      bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1;
      writeFileSync(path, bytes);
    });
    const output = join(host.base, "restored");
    const { code, stderr } = await host.run("restore", "--source", "large", "--output", output);
    expect(code).not.toBe(0);
    expect(stderr).not.toBe("");
    const left = filesUnder(host.base).filter((file) => file.includes("restored"));
    expect(left).toEqual([]);
  });

  it("cannot be tested by an agent without its identity", async () => {
    await backUp("large");
    const identity = join(host.root, "keys", "age.key");
    const kept = readFileSync(identity);
    try {
      const other = spawnSync("age-keygen", [], { encoding: "utf8" }).stdout;
      writeFileSync(identity, other);
      const failed = await test("large");
      expect([1, 2]).toContain(failed.code);
      expect(failed.passes).toBe(0);
      expect(failed.stderr + failed.stdout).not.toMatch(/AGE-SECRET-KEY-1[0-9A-Z]/);
    } finally {
      writeFileSync(identity, kept);
    }
  });
});

import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type SourceMongodb, startSourceMongodb } from "../../packages/agent/test/runs/source-mongodb.ts";
import { createShop, startDatabaseServer, type DatabaseServer } from "../../tests/e2e/harness/database.ts";
import { newHost, type Host } from "../../tests/e2e/harness/host.ts";
import { createOrganisation, type Organisation } from "../../tests/e2e/harness/organisation.ts";
import type { Finished } from "../../tests/e2e/harness/programs.ts";
import { startServer, type Server } from "../../tests/e2e/harness/server.ts";
import { until } from "../../tests/e2e/harness/wait.ts";
import { plainNodeDies, runRestricted, startRestricted } from "./restricted.ts";
import { releaseHere } from "./release-here.ts";

/** The executables that ship, where memory can't be both written and run. */

const { out, version } = await releaseHere();
const AGENT = join(out, "attestore-linux-amd64");
const VERIFIER = join(out, "attestore-verify-linux-amd64");

let server: Server;
let org: Organisation;
let database: DatabaseServer;
let mongodb: SourceMongodb;
let data: string;
let host: Host;

const agent = (...args: string[]): Promise<Finished> => runRestricted(AGENT, args, host.env);

function succeeded(finished: Finished): Finished {
  expect(finished.code, finished.stdout + finished.stderr).toBe(0);
  return finished;
}

beforeAll(async () => {
  server = await startServer({ ATTESTORE_HEARTBEAT_INTERVAL_S: "1" });
  org = await createOrganisation(server);
  database = await startDatabaseServer();
  createShop(database, "shop");
  data = mkdtempSync(join(tmpdir(), "attestore-packaging-"));
  const invoices = new DatabaseSync(join(data, "invoices.db"));
  invoices.exec(`
    create table invoices (number integer primary key, cents integer not null);
    with recursive n (i) as (select 1 union all select i + 1 from n where i < 500) insert into invoices select i, 500 + i from n;
  `);
  invoices.close();
  // The scratch server's user has to get at the programs in it.
  chmodSync(data, 0o755);
  mongodb = await startSourceMongodb(data);
  await mongodb.shop.collection("products").insertMany([{ sku: "a" }, { sku: "b" }]);
  host = newHost({ SHOP_URL: database.url("shop"), CATALOGUE_URI: mongodb.uri("shop") });
});
afterAll(async () => {
  await mongodb.close();
  host.remove();
  rmSync(data, { recursive: true, force: true });
  await database.stop();
  await server.remove();
});

it("an ordinary Node cannot start under the restriction that these tests use", () => {
  expect(plainNodeDies()).toBe(true);
});

it("both executables print their version", async () => {
  expect(succeeded(await agent("--version")).stdout.trim()).toBe(version);
  expect(succeeded(await runRestricted(VERIFIER, ["--version"])).stdout).toBe(
    `attestore-verify ${version}\n`,
  );
});

it("both executables ignore NODE_OPTIONS that would switch the JIT compiler back on", async () => {
  const { code } = await runRestricted(AGENT, ["--version"], { ...host.env, NODE_OPTIONS: "--no-jitless" });
  expect(code).toBe(0);
});

describe("the agent's executable", () => {
  it("attaches to the service", async () => {
    const args = ["init", "--service", server.url, "--ca-file", server.caFile, "--name", "packaged"];
    succeeded(await runRestricted(AGENT, args, { ...host.env, ATTESTORE_AUTH_KEY: org.authKey }));
    host.addSources(`  shop:
    engine: postgresql
    connection: env:SHOP_URL
    checks:
      - { id: has-orders, query: "select count(*) as n from orders", expect: "n >= 1000" }
  invoices:
    engine: sqlite
    path: ${join(data, "invoices.db")}
    checks:
      - { id: has-invoices, query: "select count(*) as n from invoices", expect: "n = 500" }
  catalogue:
    engine: mongodb
    connection: env:CATALOGUE_URI
    checks:
      - { id: has-products, query: '{"collection": "products", "pipeline": [{"$count": "n"}]}', expect: "n = 2" }
`);
  });

  it.each(["shop", "invoices", "catalogue"])("backs up %s and proves that it restores", async (source) => {
    succeeded(await agent("backup", "--source", source));
    const { stdout } = succeeded(await agent("restore-test", "--source", source));
    expect(stdout).toMatch(/passed|proven/i);
  });

  it("prints the agent's status", async () => {
    expect(succeeded(await agent("status")).stdout).toContain("3 of 3 sources proven");
    succeeded(await agent("doctor"));
  });

  it("runs the agent, which does what the service asks for", async () => {
    const running = startRestricted(AGENT, ["run"], host.env);
    const before = host.receipts().length;
    await server.cli("command", "queue", "--org", org.id, "--source", "invoices", "--kind", "backup");
    await until(
      "the receipt of the backup",
      () => running.child.exitCode !== null || host.receipts().length > before,
      60,
    );
    running.child.kill("SIGTERM");
    succeeded(await running.finished);
    expect(host.receipts().length).toBeGreaterThan(before);
    // It may have been told to end before it had handed the receipt in, which is then in its spool.
    succeeded(await agent("sync"));
  });
});

describe("the verifier's executable", () => {
  it("verifies the agent's receipts without the service", async () => {
    const files = host.receipts().map(({ file }) => file);
    expect(files.length).toBeGreaterThanOrEqual(4);
    const keys = ["--key", join(host.root, "keys/agent.pub"), "--log-key", join(host.root, "keys/log.vkey")];
    succeeded(await runRestricted(VERIFIER, [...files, ...keys]));
  });
});

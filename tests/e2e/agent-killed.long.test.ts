import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createShop, startDatabaseServer, type DatabaseServer } from "./harness/database.ts";
import { attachedHost, type Host } from "./harness/host.ts";
import { sha256Hex } from "./harness/merkle.ts";
import { createOrganisation } from "./harness/organisation.ts";
import { startServer, type Server } from "./harness/server.ts";
import { until } from "./harness/wait.ts";

/**
 * kill -9 of the agent at random moments: a rerun succeeds, no receipt is lost, nothing of the data
 * is left.
 */

let server: Server;
let database: DatabaseServer;
let host: Host;

beforeAll(async () => {
  server = await startServer();
  database = await startDatabaseServer();
  createShop(database, "shop", { orders: 30_000 });
  host = await attachedHost(await createOrganisation(server), { SHOP_URL: database.url("shop") });
  host.addSources(`  shop:
    engine: postgresql
    connection: env:SHOP_URL
    checks:
      - { id: has-orders, query: "select count(*) as n from orders", expect: "n = 30000" }
`);
});
afterAll(async () => {
  host.remove();
  await database.stop();
  await server.remove();
});

const ROUNDS = 4;

/** The receipts as they came one after the other: one beginning, no fork, no gap. */
function expectChain(): void {
  const receipts = host.receipts();
  const digests = new Set(
    receipts.map(({ bundle }) => sha256Hex(Buffer.from(bundle.envelope.payload, "base64"))),
  );
  expect(digests.size).toBe(receipts.length);
  const previous = receipts.map(
    ({ statement }) => statement.predicate["previous_receipt_sha256"] as string | null,
  );
  expect(new Set(previous).size, "two receipts name the same one before").toBe(previous.length);
  for (const digest of previous) if (digest !== null) expect(digests).toContain(digest);
}

describe.each(["backup", "restore-test"])("an agent killed during %s", (command) => {
  it(`${ROUNDS} times leaves nothing that its next run does not repair`, async () => {
    expect((await host.run("backup", "--source", "shop")).code).toBe(0);
    const begun = performance.now();
    expect((await host.run(command, "--source", "shop")).code).toBe(0);
    const whole_ms = performance.now() - begun;

    for (let round = 0; round < ROUNDS; round++) {
      const seen = host.receipts().map(({ file }) => file);
      const running = host.start(command, "--source", "shop");
      const moment_ms = ((round + Math.random()) / ROUNDS) * whole_ms;
      const timer = setTimeout(() => running.child.kill("SIGKILL"), moment_ms);
      await running.finished;
      clearTimeout(timer);
      const context = `killed ${command} after ${moment_ms.toFixed(0)} of ${whole_ms.toFixed(0)} ms`;

      await until(`no process is left: ${context}`, () => host.processes().length === 0, 30).catch(() => {
        expect(host.processes(), context).toEqual([]);
      });
      const rerun = await host.run(command, "--source", "shop");
      expect(rerun.code, `${context}\n${rerun.stdout}${rerun.stderr}`).toBe(0);
      expect(host.plaintext(), context).toEqual([]);
      expect(host.processes(), context).toEqual([]);
      const files = host.receipts().map(({ file }) => file);
      for (const file of seen) expect(files, context).toContain(file);
      expectChain();
    }
    const synced = await host.run("sync");
    expect(synced.code, synced.stdout + synced.stderr).toBe(0);
    for (const { file, bundle } of host.receipts()) expect(bundle.inclusion_proof, file).toBeDefined();
  });
});

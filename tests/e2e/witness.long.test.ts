import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { attachedHost, type Host } from "./harness/host.ts";
import { attach, createOrganisation, type Organisation, type WireAgent } from "./harness/organisation.ts";
import { startServer, type Server } from "./harness/server.ts";

/**
 * The agent as a witness: a log that forgets or changes what it once showed is found out, and
 * nothing is signed for it.
 */

let server: Server;
let org: Organisation;
let other: WireAgent;
let host: Host;
let data: string;

beforeAll(async () => {
  server = await startServer();
  org = await createOrganisation(server);
  other = await attach(org);
  data = mkdtempSync(join(tmpdir(), "attestore-e2e-witness-"));
  const kv = new DatabaseSync(join(data, "kv.db"));
  kv.exec("create table kv (k integer primary key, v text); insert into kv values (1, 'one'), (2, 'two');");
  kv.close();
  host = await attachedHost(org);
  host.addSources(`  kv:\n    engine: sqlite\n    path: ${join(data, "kv.db")}\n`);
});
afterAll(async () => {
  host.remove();
  rmSync(data, { recursive: true, force: true });
  await server.remove();
});

const copy = (from: string, to: string): void => {
  const done = spawnSync("cp", ["-a", `${from}/.`, to]);
  if (done.status !== 0) throw new Error(done.stderr.toString());
};

/** The service as it was some time ago, under the same address and with the same keys. */
async function rollBack(snapshot: string): Promise<void> {
  await server.stop();
  const emptied = spawnSync("find", [server.data, "-mindepth", "1", "-delete"]);
  if (emptied.status !== 0) throw new Error(emptied.stderr.toString());
  copy(snapshot, server.data);
  await server.start();
}

async function append(count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const body = { kind: "backup_failed", occurred_at: "2026-11-21T08:00:00.000Z", detail: { forked: n } };
    const answer = await other.call("POST", "/v1/events", body);
    expect(answer.status, answer.body.toString()).toBe(201);
  }
}

describe("a log that was set back", () => {
  let snapshot: string;

  beforeAll(async () => {
    expect((await host.run("backup", "--source", "kv")).code).toBe(0);
    await server.stop();
    snapshot = join(data, "snapshot");
    mkdirSync(snapshot);
    copy(server.data, snapshot);
    await server.start();
    for (const command of ["backup", "restore-test"]) {
      const done = await host.run(command, "--source", "kv");
      expect(done.code, done.stdout + done.stderr).toBe(0);
    }
  });

  it.each<[string, number]>([
    ["is shorter than the head that the agent kept", 0],
    ["has grown another way since", 12],
  ])("and %s is shown, and the agent signs nothing for it", async (_how, entries) => {
    await rollBack(snapshot);
    await append(entries);
    const proven = (): number => host.receipts().filter(({ bundle }) => bundle.inclusion_proof).length;
    const before = proven();
    // A receipt may be signed before the agent sees the head, and then waits. None is signed after.
    let signed = Infinity;
    for (const command of ["backup", "restore-test", "backup"]) {
      const { code, stdout, stderr } = await host.run(command, "--source", "kv");
      expect(code, stdout + stderr).toBe(2);
      expect(stdout + stderr).toMatch(/\blog\b/i);
      expect(stdout + stderr).toContain("attestore alarm");
      expect(host.receipts().length).toBeLessThanOrEqual(signed);
      signed = host.receipts().length;
    }
    expect(proven()).toBe(before);
    expect((await host.run("sync")).code).not.toBe(0);
    expect(proven()).toBe(before);
    const status = await host.run("status");
    expect(status.code).not.toBe(0);
    expect(status.stdout + status.stderr).toMatch(/\blog\b/i);
    expect(status.stdout).not.toMatch(/everything is proven/i);
  });

  it("stays an alarm until a person has looked, even if the service shows the right log again", async () => {
    const { code, stdout, stderr } = await host.run("alarm");
    expect(stdout + stderr).toMatch(/extend|consisten|smaller|roll/i);
    expect(code).not.toBe(0);
  });
});

import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseCheckpoint, parseNote } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Dashboard, type DashboardOrg, openDashboard } from "../e2e/dashboard/open-dashboard.ts";
import { attachedHost, type Host } from "../e2e/harness/host.ts";
import { api, exchange } from "../e2e/harness/https.ts";
import { run, type Running } from "../e2e/harness/programs.ts";
import { until } from "../e2e/harness/wait.ts";
import { PostgresPair } from "./soak/postgres-pair.ts";

/**
 * A standby that no commit waited for takes over. From there on, everything is as docs/operate.md
 * says: "A database that was set back".
 */
let base: string;
let pair: PostgresPair;
let dashboard: Dashboard;
let org: DashboardOrg;
let host: Host;
let agent: Running;

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "attestore-lost-tail-"));
  chmodSync(base, 0o711);
  pair = await PostgresPair.start(join(base, "postgres"), { awaited: false });
  pair.sql("postgres", "create role service login createrole");
  pair.sql("postgres", "create database attestore owner service");
  const servers = pair.ports.map((port) => `127.0.0.1:${port}`).join(",");
  dashboard = await openDashboard({
    DATABASE_URL: `postgresql://service@${servers}/attestore?target_session_attrs=read-write`,
    ATTESTORE_HEARTBEAT_INTERVAL_S: "1",
  });
  org = await dashboard.addOrg("Invoices & Co");
  host = await attachedHost(org);
  const file = join(base, "invoices.db");
  const invoices = new DatabaseSync(file);
  invoices.exec("create table invoices (number integer primary key); insert into invoices values (1), (2);");
  invoices.close();
  host.addSources(`  invoices:\n    engine: sqlite\n    path: ${file}\n`);
  await agentDoes("backup");
  await agentDoes("restore-test");
  // A start signs the hourly heads; heartbeats are answered with it while the log is read-only.
  await dashboard.server.stop();
  await dashboard.server.start();
  await until(
    "the hourly head is signed",
    () => pair.sql("attestore", "select count(*) from log_emissions").trim() === "1",
  );
  agent = host.start("run");
});
afterAll(async () => {
  agent?.child.kill("SIGTERM");
  await agent?.finished;
  host?.remove();
  await dashboard?.close();
  await pair?.close();
  rmSync(base, { recursive: true, force: true });
});

async function agentDoes(command: string): Promise<void> {
  const { code, stdout, stderr } = await host.run(command, "--source", "invoices");
  expect(code, stdout + stderr).toBe(0);
}

const proven = () =>
  host
    .receipts()
    .flatMap(({ file, bundle: { checkpoint } }) => (checkpoint === undefined ? [] : [{ file, checkpoint }]));
const originOf = (checkpoint: string): string => parseCheckpoint(parseNote(checkpoint).text).origin;
const verify = (file: string) =>
  run("attestore-verify", [
    file,
    "--key",
    join(host.root, "keys/agent.pub"),
    "--log-key",
    join(host.root, "keys/log.vkey"),
  ]);
const asOwner = (path: string) => api(dashboard.server, { method: "GET", path, token: org.owner.token });
/** Appends an event that no agent sent. */
const createLink = () =>
  exchange(dashboard.server, {
    method: "POST",
    path: `/api/orgs/${org.id}/auditor-links`,
    json: { name: "audit", from: "2026-01-01T00:00:00.000Z", to: "2027-01-01T00:00:00.000Z" },
    token: org.owner.token,
  });
const logSize = (): string =>
  pair.sql("attestore", `select tree_size from logs where org_id = '${org.id}'`).trim();

test("a log that lost its tail is read-only before anything is written, and says so; after log recover the agent hands in again, everything verifies, and no alarm is left", async () => {
  await pair.cutStandbyOff();
  const left = logSize();
  const before = proven();
  await agentDoes("restore-test");
  await agentDoes("restore-test");
  const lostFiles = proven().flatMap(({ file }) => (before.some((one) => one.file === file) ? [] : [file]));
  expect(lostFiles).toHaveLength(2);
  const page = await dashboard.open(org.owner, "/log");
  await page.locator('[data-observation="first"]').waitFor();

  await pair.loseTail();
  const answer = await until("the service has found the other server", async () => {
    const { status, body } = await createLink();
    const reason = (JSON.parse(body.toString()) as { details?: { reason?: string } }).details?.reason;
    return status < 500 || reason !== undefined ? { status, reason } : null;
  });
  expect(answer).toEqual({ status: 503, reason: "log_set_back" });
  expect(logSize()).toBe(left);
  await until("readyz says it", async () =>
    (await exchange(dashboard.server, { method: "GET", path: "/readyz" })).body
      .toString()
      .includes("logs_set_back"),
  );
  expect((await asOwner(`/api/orgs/${org.id}/log`)).json()).toMatchObject({ read_only: true });
  await page.reload();
  await page.getByText("This log is read-only").waitFor();
  await page.locator('[data-alarm="head_rolled_back"]').waitFor();
  await page.goto(`${dashboard.server.url}/`);
  await page.getByText("The log is read-only").waitFor();
  await until("the agent has raised its alarm", async () => (await host.run("alarm")).code !== 0);

  const { code, stderr } = await dashboard.server.cli(
    "log",
    "recover",
    org.id,
    "--yes",
    "--because",
    "the standby lacked entries",
  );
  expect(code, stderr).toBe(0);
  await until("the agent has submitted again", () =>
    lostFiles.every((file) =>
      proven().some((one) => one.file === file && originOf(one.checkpoint).endsWith(`${org.id}/2`)),
    ),
  );
  await agentDoes("restore-test");
  const all = proven();
  expect(all).toHaveLength(5);
  for (const { file } of all) {
    const { code: verdict, stdout } = await verify(file);
    expect([verdict, stdout.slice(0, 4)], readFileSync(file, "utf8")).toEqual([0, "TRUE"]);
  }
  expect((await host.run("alarm")).code).toBe(0);

  expect((await asOwner(`/api/orgs/${org.id}/log`)).json()).toMatchObject({
    read_only: false,
    // The event is of the alarm.
    handed_in_again: [{ generation: 2, receipts: 2, events: 1 }],
  });
  await page.goto(`${dashboard.server.url}/log`);
  await page.locator("[data-observation]").waitFor();
  await page.getByText("2 receipts and 1 event from before that").waitFor();
  await page.getByText("the standby lacked entries").waitFor();
  expect(await page.locator("[data-alarm]").count()).toBe(0);
  expect((await exchange(dashboard.server, { method: "GET", path: "/readyz" })).status).toBe(200);
  const fsck = await dashboard.server.cli("fsck");
  expect(fsck.code, fsck.stdout + fsck.stderr).toBe(0);
});

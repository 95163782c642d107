import { createHash } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { filesUnder } from "../e2e/harness/files.ts";
import { attachedHost, type Host } from "../e2e/harness/host.ts";
import { api, exchange } from "../e2e/harness/https.ts";
import { createAuthKey } from "../e2e/harness/organisation.ts";
import type { Running } from "../e2e/harness/programs.ts";
import { type Server, startServer } from "../e2e/harness/server.ts";
import { signUp } from "../e2e/harness/session.ts";
import { until } from "../e2e/harness/wait.ts";
import { PostgresPair } from "./soak/postgres-pair.ts";

/**
 * A standby that no commit waited for takes over, and the service loses its records of backups
 * whose objects are still in the store. The agent has their receipts, and the service no longer
 * takes these.
 */
let base: string;
let pair: PostgresPair;
let server: Server;
let orgId: string;
let token: string;
let host: Host;
let agent: Running | undefined;

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "attestore-lost-backups-"));
  chmodSync(base, 0o711);
  pair = await PostgresPair.start(join(base, "postgres"), { awaited: false });
  pair.sql("postgres", "create role service login createrole");
  pair.sql("postgres", "create database attestore owner service");
  const servers = pair.ports.map((port) => `127.0.0.1:${port}`).join(",");
  server = await startServer({
    DATABASE_URL: `postgresql://service@${servers}/attestore?target_session_attrs=read-write`,
    ATTESTORE_HEARTBEAT_INTERVAL_S: "1",
  });
  const person = await signUp([server]);
  ({ orgId, token } = person);
  host = await attachedHost({ server, id: orgId, authKey: await createAuthKey(server, orgId) });
  for (const name of ["invoices", "orders"]) {
    const file = join(base, `${name}.db`);
    const database = new DatabaseSync(file);
    database.exec(`create table ${name} (number integer primary key); insert into ${name} values (1), (2);`);
    database.close();
    host.addSources(`  ${name}:\n    engine: sqlite\n    path: ${file}\n    objectives: { rpo_s: 86400 }\n`);
  }
});
afterAll(async () => {
  agent?.child.kill("SIGTERM");
  await agent?.finished;
  host?.remove();
  await server?.remove();
  await pair?.close();
  rmSync(base, { recursive: true, force: true });
});

async function agentDoes(command: string, source: string): Promise<void> {
  const { code, stdout, stderr } = await host.run(command, "--source", source);
  expect(code, stdout + stderr).toBe(0);
}

interface Status {
  sources: {
    source: string;
    verdict: string;
    because: string | null;
    last_backup: { id: string } | null;
    last_test: { backup_id: string } | null;
    last_clean_backup: string | null;
    rpo: { met: boolean } | null;
    lost_backups: string[];
  }[];
  problems: { what: string; next: string }[];
}
async function status(): Promise<Status> {
  const { code, stdout } = await host.run("status", "--json");
  const found = JSON.parse(stdout) as Status;
  expect(code).toBe(found.problems.length === 0 ? 0 : 1);
  return found;
}
const stateOf = (found: Status, name: string): Status["sources"][number] | undefined =>
  found.sources.find(({ source }) => source === name);
const servicesView = async (): Promise<Record<string, boolean>> => {
  const answer = await api(server, { method: "GET", path: `/api/orgs/${orgId}/sources`, token });
  const { items } = answer.json<{ items: { slug: string; proven: boolean }[] }>();
  return Object.fromEntries(items.map(({ slug, proven }) => [slug, proven]));
};
const receiptOf = (backupId: string) => {
  const found = host.receipts().find(({ statement }) => statement.predicate["backup_id"] === backupId);
  if (found === undefined) throw new Error(`no receipt of ${backupId}`);
  return found;
};

test("backups whose records the service lost prove nothing to the agent or the service, status says what to do, and they can be restored from their objects", async () => {
  await agentDoes("backup", "invoices");
  await agentDoes("restore-test", "invoices");
  const kept = stateOf(await status(), "invoices")?.last_backup?.id;
  // A start signs the hourly heads; heartbeats are answered with it while the log is read-only.
  await server.stop();
  await server.start();
  await until(
    "the hourly head is signed",
    () => pair.sql("attestore", "select count(*) from log_emissions").trim() === "1",
  );
  await pair.cutStandbyOff();
  for (const source of ["invoices", "orders"])
    for (const command of ["backup", "restore-test"]) await agentDoes(command, source);
  const before = await status();
  expect([before.sources.map(({ verdict }) => verdict), before.problems]).toEqual([["proven", "proven"], []]);
  expect(await servicesView()).toEqual({ invoices: true, orders: true });
  const [lostInvoices, lostOrders] = ["invoices", "orders"].map(
    (name) => stateOf(before, name)?.last_backup?.id ?? "",
  );

  await pair.loseTail();
  agent = host.start("run");
  await until("the service has found the other server", async () =>
    (await exchange(server, { method: "GET", path: "/readyz" })).body.toString().includes("logs_set_back"),
  );
  await until("the agent has raised its alarm", async () => (await host.run("alarm")).code !== 0);
  const recovered = await server.cli("log", "recover", orgId, "--yes", "--because", "the standby lacked it");
  expect(recovered.code, recovered.stderr).toBe(0);
  await until(
    "the service has refused what it does not know",
    async () => host.receipts().filter(({ file }) => file.includes("/refused/")).length === 4,
  );

  const found = await status();
  expect(stateOf(found, "orders")).toMatchObject({
    verdict: "no_backup",
    because: "never_backed_up",
    last_backup: null,
    last_test: null,
    last_clean_backup: null,
    rpo: { met: false },
    lost_backups: [lostOrders],
  });
  // The older one can still be restored through the service, and is all that counts now.
  expect(stateOf(found, "invoices")).toMatchObject({
    verdict: "proven",
    last_backup: { id: kept },
    last_test: { backup_id: kept },
    last_clean_backup: kept,
    lost_backups: [lostInvoices],
  });
  expect(await servicesView()).toMatchObject({ invoices: true, orders: false });
  const said = found.problems.map(({ what }) => what).join("\n");
  expect(said).toContain(`invoices: the service has no record of ${lostInvoices}`);
  expect(said).toContain(`orders: the service has no record of ${lostOrders}`);
  const restored = await host.run("restore", "--source", "orders", "--output", join(base, "orders.out"));
  expect([restored.code, restored.stderr]).toEqual([
    expect.not.toBeOneOf([0]),
    expect.stringContaining(String(lostOrders)),
  ]);
  const named = await host.run(
    "restore",
    "--source=invoices",
    `--backup=${String(lostInvoices)}`,
    `--output=${join(base, "invoices.out")}`,
  );
  expect([named.code, named.stderr]).toEqual([
    expect.not.toBeOneOf([0]),
    expect.stringContaining("has no record of"),
  ]);

  // As docs/agent.md says.
  const [subject] = receiptOf(String(lostOrders)).statement.subject;
  const object = filesUnder(join(server.data, "objects")).find(
    (file) => createHash("sha256").update(readFileSync(file)).digest("hex") === subject?.digest.sha256,
  );
  const output = join(base, "orders-again.db");
  const again = await host.run("restore", "--file", object ?? "", "--output", output);
  expect(again.code, again.stderr).toBe(0);
  const database = new DatabaseSync(output);
  expect(database.prepare("select count(*) as n from orders").get()).toEqual({ n: 2 });
  database.close();

  for (const source of ["invoices", "orders"])
    for (const command of ["backup", "restore-test"]) await agentDoes(command, source);
  const after = await status();
  expect(after.sources.map(({ verdict }) => verdict)).toEqual(["proven", "proven"]);
  expect(after.problems.map(({ what }) => what)).toEqual([
    "4 receipts or events were rejected by the service",
  ]);
  expect(await servicesView()).toEqual({ invoices: true, orders: true });
});

import type { Page } from "playwright-core";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { declareSource, writeEncryptedDump } from "../harness/backups.ts";
import { attachedHost, type Host } from "../harness/host.ts";
import { attach, type WireAgent } from "../harness/organisation.ts";
import { accepted, backupStatement, restoreTestStatement } from "../harness/statements.ts";
import { type Dashboard, type DashboardOrg, openDashboard } from "./open-dashboard.ts";

/** A directory for what a test file's commands write. */
export let base: string;
export let dashboard: Dashboard;
export let org: DashboardOrg;
/** A host with the real agent: its receipts say that invoices was backed up and restored. */
export let host: Host;
/** An agent that only makes the calls; its restore test failed. */
export let wire: WireAgent;
export let failedReceipt: string;

/**
 * Of a file whose tests look at receipts: an organisation with a receipt of a restore test that
 * passed, and one of a test that failed.
 */
export function useReceiptsDashboard(): void {
  beforeAll(async () => {
    base = mkdtempSync(join(tmpdir(), "attestore-receipts-"));
    dashboard = await openDashboard();
    org = await dashboard.addOrg("Invoices & Co");
    host = await attachedHost(org);
    const database = join(base, "invoices.db");
    shell(
      base,
      `sqlite3 '${database}' "create table invoices (number integer primary key, cents int);
       with recursive n (i) as (select 1 union all select i + 1 from n where i < 500) insert into invoices select i, i * 7 from n;"`,
    );
    host.addSources(`  invoices:
    engine: sqlite
    path: ${database}
    checks:
      - { id: has-invoices, query: "select count(*) as n from invoices", expect: "n >= 100" }
`);
    for (const command of ["backup", "restore-test"]) {
      const { code, stderr } = await host.run(command, "--source", "invoices");
      expect(code, stderr).toBe(0);
    }
    wire = await attach(org, { name: "wire-host" });
    const backup = await writeEncryptedDump(wire, await declareSource(wire, "orders"));
    await accepted(wire, backupStatement(wire, backup));
    failedReceipt = (await accepted(wire, restoreTestStatement(wire, backup, "failed"))).receipt_id;
  });
  afterAll(async () => {
    host.remove();
    await dashboard.close();
    rmSync(base, { recursive: true, force: true });
  });
}

/** Runs shell commands as typed; returns their output. */
export function shell(directory: string, script: string): string {
  const { status, stdout, stderr } = spawnSync("bash", ["-euo", "pipefail", "-c", script], {
    cwd: directory,
    encoding: "utf8",
  });
  expect(status, `${script}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}

export const agentKey = (): string => readFileSync(join(host.root, "keys/agent.pub"), "utf8");
export const logKey = (): string => readFileSync(join(host.root, "keys/log.vkey"), "utf8");

export interface Listed {
  id: string;
  kind: string;
  result: string | null;
  backup_id: string;
}

export async function receiptsOf(agentId: string): Promise<Listed[]> {
  const answer = await wire.call("GET", `/api/orgs/${org.id}/receipts?agent_id=${agentId}`, undefined, {
    token: org.owner.token,
  });
  return answer.json<{ items: Listed[] }>().items;
}

/** The receipt with its proof, as people download it. */
export async function bundleOf(id: string): Promise<string> {
  const answer = await wire.call("GET", `/api/receipts/${id}/bundle`, undefined, {
    token: org.owner.token,
  });
  return answer.body.toString();
}

/** The real agent's receipt of its restore test. */
export async function passed(): Promise<Listed> {
  const [statement] = host.receipts().map(({ statement: { predicate } }) => predicate);
  const found = (await receiptsOf(String(statement?.["agent_id"]))).find(({ result }) => result === "passed");
  if (found === undefined) throw new Error("the agent's restore test has no receipt");
  return found;
}

/** The same statement with another number of rows. */
export function changed(payload: string): string {
  const statement = Buffer.from(payload, "base64").toString().replace('"n":500', '"n":900');
  return Buffer.from(statement).toString("base64");
}

/** Commands that a page shows, with the authority that this service's certificate has. */
export const withAuthority = (commands: string): string =>
  commands.replace("curl ", `curl --silent --cacert ${dashboard.server.caFile} `);

interface Detail {
  result: string;
  source_id: string;
  backup_id: string;
  envelope: { payload: string };
}

/** What the certificate says that the browser verified by itself. */
export const marks = (page: Page): Promise<string[]> =>
  page.getByRole("region", { name: "Certificate" }).getByRole("listitem").allTextContents();
export const sealOf = (page: Page): Promise<string | null> =>
  page.locator("[data-seal]").getAttribute("data-seal");

/** The service answers a call with something else than it has. */
export async function misstate(page: Page, path: string, change: (answer: Detail) => void): Promise<void> {
  await page.route(path, async (route) => {
    const response = await route.fetch();
    const answer = (await response.json()) as Detail;
    change(answer);
    await route.fulfill({ response, json: answer });
  });
}

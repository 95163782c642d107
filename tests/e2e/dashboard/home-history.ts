import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { type BackupRecord, declareSource, heartbeatBody, writeEncryptedDump } from "../harness/backups.ts";
import { api } from "../harness/https.ts";
import { attach, type WireAgent } from "../harness/organisation.ts";
import { accepted, backupStatement, restoreTestStatement, type Statement } from "../harness/statements.ts";
import { type Dashboard, type DashboardOrg, openDashboard } from "./open-dashboard.ts";

export let dashboard: Dashboard;
export let org: DashboardOrg;
/** It has all of the organisation's sources. */
export let agent: WireAgent;
/** The ids of two of its sources. */
export let archive: string;
export let billing: string;

/** Of a file whose tests look at the home page. */
export function useDashboard(): void {
  beforeAll(async () => {
    dashboard = await openDashboard();
  });
  afterAll(() => dashboard.close());
}

/**
 * An organisation of four sources: orders-db is proven, the last test of billing failed, archive is
 * only backed up, and of new-db there is nothing.
 */
export function useHistory(): void {
  beforeAll(async () => {
    org = await dashboard.addOrg("Example Shop");
    agent = await attach(org);
    const orders = await declareSource(agent, "orders-db");
    billing = await declareSource(agent, "billing");
    archive = await declareSource(agent, "archive");
    for (const days of [12, 11, 9, 8, 5, 4]) await prove(agent, orders, days);
    await prove(agent, orders, 3, "failed");
    for (const days of [2, 1]) await backUp(agent, orders, days);
    await prove(agent, orders);
    await prove(agent, billing, 9);
    await prove(agent, billing, 0, "failed");
    await backUp(agent, archive, 1);
    await declareSource(agent, "new-db");
    await agent.call(
      "POST",
      "/v1/heartbeat",
      heartbeatBody({ spool: { backups: 0, receipts: 2, events: 0 } }),
    );
    const objectives = await api(dashboard.server, {
      method: "POST",
      path: `/api/orgs/${org.id}/sources/${billing}/configure`,
      token: org.owner.token,
      json: { objectives: { rpo_s: 1, rto_s: 1800 } },
    });
    expect(objectives.status).toBe(200);
  });
}

export const headline = (page: Page) => page.getByRole("heading", { level: 1, name: /of 4 sources/ });
export const rowOf = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });

/** The same statement about a run some days ago. */
function daysAgo(days: number, statement: Statement): Statement {
  const at = (seconds: number): string =>
    new Date(Date.now() - days * 86_400_000 - seconds * 1000).toISOString();
  Object.assign(statement.predicate, { started_at: at(9), finished_at: at(4) });
  return statement;
}

export async function backUp(agent: WireAgent, sourceId: string, days = 0): Promise<BackupRecord> {
  const backup = await writeEncryptedDump(agent, sourceId);
  await accepted(agent, daysAgo(days, backupStatement(agent, backup)));
  return backup;
}

export async function prove(
  agent: WireAgent,
  sourceId: string,
  days = 0,
  result: "passed" | "failed" = "passed",
) {
  const backup = await backUp(agent, sourceId, days);
  await accepted(agent, daysAgo(days, restoreTestStatement(agent, backup, result)));
}

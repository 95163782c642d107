import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { attachedHost, type Host } from "../harness/host.ts";
import type { Running } from "../harness/programs.ts";
import { until } from "../harness/wait.ts";
import { type DashboardOrg, expectAccessible, screenshotsOf } from "./open-dashboard.ts";
import {
  call,
  dashboard,
  descriptionOf,
  eventually,
  heading,
  useSourcesDashboard,
} from "./sources-dashboard.ts";

useSourcesDashboard();

let org: DashboardOrg;
let host: Host;
let agent: Running;
let data: string;
let page: Page;

const ledger = () => join(data, "ledger.db");
const change = (sql: string): void => {
  const database = new DatabaseSync(ledger());
  database.exec(sql);
  database.close();
};

beforeAll(async () => {
  org = await dashboard.addOrg("Harbour Records");
  data = mkdtempSync(join(tmpdir(), "attestore-e2e-ledger-"));
  change(`create table entries (id integer primary key, cents integer not null);
    create table drafts (id integer primary key);
    insert into entries (cents) values (100), (250), (7)`);
  host = await attachedHost(org);
  host.addSources(`  ledger:
    engine: sqlite
    path: ${ledger()}
    checks:
      - { id: has-entries, query: "select count(*) as n from entries", expect: "n >= 3" }
`);
  agent = host.start("run");
  await until("the source is registered", async () => {
    const { items } = await call<{ items: unknown[] }>(org.owner, "GET", `/api/orgs/${org.id}/sources`);
    return items.length > 0;
  });
  page = await dashboard.open(org.owner, "/sources");
});
afterAll(async () => {
  agent.child.kill("SIGTERM");
  await agent.finished;
  host.remove();
  rmSync(data, { recursive: true, force: true });
});

test("a source that was never backed up is listed near the top, and says what to do", async () => {
  await heading(page, "Sources");
  await page.getByRole("row", { name: /ledger.*No backup yet/ }).waitFor();
  await page.getByRole("link", { name: "ledger" }).click();
  await heading(page, "ledger");
  await page.getByText("Nothing has been recorded yet.").waitFor();
  await expect
    .poll(() => descriptionOf(page, "Test a restore now"))
    .toBe("There is no backup to restore yet.");
  await expectAccessible(page);
  await screenshotsOf(page, "source-new");
});

test("Back up now shows each step until the receipt, and adds the backup to the timeline", async () => {
  await page.getByRole("button", { name: "Back up now" }).click();
  const underWay = page.getByRole("region", { name: "Under way" });
  await underWay.getByRole("list", { name: "Progress" }).waitFor();
  await page.getByText("The backup of ledger is made. Its receipt is in the log.").waitFor();
  const entry = page.getByRole("list", { name: "Everything" }).getByRole("listitem");
  await entry.getByRole("link", { name: "Backup made" }).waitFor();
  await entry.getByRole("link", { name: "receipt", exact: true }).waitFor();
  await entry.getByRole("link", { name: "backup requested" }).waitFor();
  await expect.poll(() => underWay.count()).toBe(0);
  await expect
    .poll(() => page.getByRole("button", { name: "Back up now" }).getAttribute("aria-disabled"))
    .toBeNull();
  await expectAccessible(page);
});

test("Test a restore now shows the proof, its checks and how long each phase took", async () => {
  await page.getByRole("button", { name: "Test a restore now" }).click();
  await page.getByText("The restore test of ledger passed.").waitFor();
  await page.getByRole("list", { name: "Everything" }).getByText("Restore test passed").waitFor();
  await page.getByRole("tab", { name: "Restore tests" }).click();
  const checks = page.getByRole("table", { name: "Checks of the last restore test" });
  await checks.getByRole("row", { name: /has-entries.*n >= 3.*n = 3.*held/ }).waitFor();
  await page.getByRole("table", { name: "Restore tests, newest first" }).getByRole("row").nth(1).waitFor();
  await page.getByRole("slider", { name: "Restore test in the chart" }).waitFor();
  await expectAccessible(page);
  await screenshotsOf(page, "source-tests");
});

test("a changed schema is shown as drift, with a readable diff", async () => {
  change("alter table entries add column note text; drop table drafts; create table tags (name text)");
  await page.getByRole("button", { name: "Back up now" }).click();
  await page.getByRole("tab", { name: "Drift" }).click();
  await page.getByRole("button", { name: "Show the difference" }).click({ timeout: 60_000 });
  const difference = page.getByRole("region", { name: "Schema difference" });
  await difference
    .getByRole("region", { name: "table entries, altered" })
    .getByText("+ column note")
    .waitFor();
  await difference.getByRole("region", { name: "table drafts, removed" }).waitFor();
  await difference.getByRole("region", { name: "table tags, added" }).waitFor();
  await page
    .getByRole("region", { name: "Status" })
    .getByText(/Last change: .*Schema/)
    .waitFor();
  await expectAccessible(page);
  await screenshotsOf(page, "source-drift");
});

test("a command that ended before the page was updated is shown with its effect", async () => {
  change("create table late (id integer primary key)");
  const inLog = (): number => host.receipts().filter(({ bundle }) => bundle.inclusion_proof).length;
  const before = inLog();
  let held = 0;
  await page.route("**/commands?**", async (route) => {
    held += 1;
    await until("the agent has ended the command", () => inLog() > before, 60);
    await route.fallback();
  });
  await page.getByRole("button", { name: "Back up now" }).click();
  await page.getByRole("button", { name: "Show the difference" }).first().click({ timeout: 60_000 });
  await page.getByRole("region", { name: "table late, added" }).waitFor();
  await page.getByText("The backup of ledger is made.").first().waitFor();
  expect(held).toBeGreaterThan(0);
  await page.unrouteAll();
});

test("each command is in the list of commands, and has its own page", async () => {
  await page.goto(`${dashboard.server.url}/commands`);
  await heading(page, "Jobs");
  const rows = page.getByRole("table", { name: "Jobs, newest first" }).getByRole("row");
  await rows.filter({ hasText: org.owner.email }).nth(2).waitFor();
  await expectAccessible(page);
  await screenshotsOf(page, "commands");
  await page.getByRole("combobox", { name: "What" }).selectOption({ label: "Restore test" });
  await eventually(() => rows.count()).toBe(2);
  expect(new URL(page.url()).search).toBe("?kind=restore_test");
  // The word that the receipt, the timeline and the chart have for it.
  await rows.getByRole("cell", { name: "passed", exact: true }).waitFor();
  await rows.getByRole("link", { name: "Restore test" }).click();
  await heading(page, "Restore test of ledger");
  await page.getByText("The backup restores and its checks held").waitFor();
  await page.getByText(org.owner.email).last().waitFor();
  await expectAccessible(page);
  await screenshotsOf(page, "command");
  await page.goto(`${dashboard.server.url}/commands?status=queued`);
  await page.getByText("No job matches the filter.").waitFor();
});

import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { declareSource, heartbeatBody } from "../harness/backups.ts";
import { api } from "../harness/https.ts";
import { attach, type WireAgent } from "../harness/organisation.ts";
import { accepted, restoreTestStatement } from "../harness/statements.ts";
import { until } from "../harness/wait.ts";
import { type DashboardOrg, expectAccessible, screenshotsOf } from "./open-dashboard.ts";
import {
  call,
  dashboard,
  eventually,
  heading,
  history,
  table,
  useSourcesDashboard,
} from "./sources-dashboard.ts";

useSourcesDashboard();

let org: DashboardOrg;
let wire: WireAgent;
let page: Page;
let orders: string;

beforeAll(async () => {
  org = await dashboard.addOrg("Lists");
  wire = await attach(org, { name: "host-1" });
  orders = await declareSource(wire, "orders");
  await history(wire, orders, {
    days: Array.from({ length: 30 }, (_, index) => 30 - index),
    result: "failed",
    summary: (index) => ({
      objects: [table("orders", { "column id": "bigint", ...(index > 27 ? { "column note": "text" } : {}) })],
      omitted: 0,
    }),
  });
  await wire.call("POST", "/v1/events", {
    kind: "restore_failed",
    source_id: orders,
    occurred_at: new Date().toISOString(),
    detail: { reason: "no_key", message: "There is no key that decrypts this backup." },
  });
  const labels = { tags: ["money", "shop"], environment: "production" };
  await history(wire, await declareSource(wire, "billing", "postgresql", labels), {
    days: [0],
    result: "passed",
  });
  await history(wire, await declareSource(wire, "archive"), { days: [3] });
  page = await dashboard.open(org.owner, "/sources");
});

test("the sources list sorts worst first and filters by state and name; the URL keeps the filter", async () => {
  await heading(page, "Sources");
  const names = () =>
    page
      .getByRole("table", { name: "Sources" })
      .getByRole("link", { name: /^(orders|billing|archive)$/ })
      .allTextContents();
  await eventually(names).toEqual(["orders", "archive", "billing"]);
  await page.getByRole("row", { name: /orders.*Failed.*could not run/ }).waitFor();
  await expectAccessible(page);
  await screenshotsOf(page, "sources");
  await page.getByRole("combobox", { name: "Order" }).selectOption({ label: "By name" });
  await eventually(names).toEqual(["archive", "billing", "orders"]);
  await page.getByRole("combobox", { name: "State" }).selectOption({ label: "Proven" });
  await eventually(names).toEqual(["billing"]);
  await page.getByText("1 of 3 sources").waitFor();
  await page.reload();
  await eventually(names).toEqual(["billing"]);
  await page.getByRole("searchbox", { name: "Filter by name" }).fill("nothing like it");
  await page.getByText("No source matches the filter.").waitFor();
  await expectAccessible(page);
});

test("sources filter by environment and tag, on the home page too, and the list's URL keeps the filter", async () => {
  await page.goto(`${dashboard.server.url}/sources`);
  const names = () => page.getByRole("link", { name: /^(orders|billing|archive)$/ }).allTextContents();
  await page.getByText("PostgreSQL · production · money, shop").waitFor();
  await page.getByRole("combobox", { name: "Environment" }).selectOption("production");
  await eventually(names).toEqual(["billing"]);
  await page.getByRole("combobox", { name: "Tag" }).selectOption("shop");
  await page.reload();
  await eventually(names).toEqual(["billing"]);
  expect(new URL(page.url()).search).toBe("?environment=production&tag=shop");
  await expectAccessible(page);
  await screenshotsOf(page, "sources-labels");
  await page.goto(`${dashboard.server.url}/sources?tag=gone`);
  await page.getByText("No source matches the filter.").waitFor();
  await page.goto(dashboard.server.url);
  await page.getByRole("combobox", { name: "Tag" }).selectOption("money");
  await page.getByText("1 of 3 sources", { exact: true }).waitFor();
  await eventually(() => page.getByRole("rowheader").count()).toBe(1);
  await expectAccessible(page);
  await screenshotsOf(page, "home-labels");
});

test("the timeline loads older entries, and filters by kind", async () => {
  await page.goto(`${dashboard.server.url}/sources/${orders}`);
  const list = page.getByRole("list", { name: "Everything" });
  await list.getByText("There is no key that decrypts this backup.").waitFor();
  const before = await list.getByRole("listitem").count();
  await page.getByRole("button", { name: "Show more" }).click();
  await eventually(() => list.getByRole("listitem").count()).toBeGreaterThan(before);
  await list.getByRole("link", { name: "1 change since the previous backup" }).first().waitFor();
  await expectAccessible(page);
  await screenshotsOf(page, "source");
  await page.getByRole("combobox", { name: "Show" }).selectOption({ label: "Failed and missed" });
  const trouble = page.getByRole("list", { name: "Failed and missed" });
  await eventually(() => trouble.getByRole("listitem").count()).toBe(2);
  await page.getByRole("combobox", { name: "Show" }).selectOption({ label: "Jobs" });
  await page.getByText("Nothing of this kind has been recorded.").waitFor();
});

test("the chart of restore times shows the objective and each test's values, and leaves out values that were not measured", async () => {
  const timed = await declareSource(wire, "timed");
  await call(org.owner, "POST", `/api/orgs/${org.id}/sources/${timed}/configure`, {
    objectives: { rto_s: 60 },
  });
  const [backup] = await history(wire, timed, { days: [0] });
  if (backup === undefined) throw new Error("no backup was made");
  const tested = (days: number, restore_ms: number | null, result: "passed" | "failed" = "passed") => {
    const statement = restoreTestStatement(wire, backup, result);
    const finished_at = new Date(Date.now() - days * 86_400_000).toISOString();
    const phases = { download_ms: 2000, decrypt_ms: 500, restore_ms, checks_ms: 900 };
    Object.assign(statement.predicate, {
      started_at: finished_at,
      finished_at,
      phases: restore_ms === null ? undefined : phases,
    });
    return accepted(wire, statement);
  };
  for (const days of [20, 16, 12, 8, 4]) await tested(days, 30_000 + days * 500);
  await tested(3, 12_000, "failed");
  await tested(2, null, "failed");
  await tested(0, 64_500);
  await page.goto(`${dashboard.server.url}/sources/${timed}?tab=tests`);
  const chart = page.getByRole("figure", { name: "Time until the data was back" });
  const slider = chart.getByRole("slider", { name: "Restore test in the chart" });
  const value = () => slider.getAttribute("aria-valuetext");
  await eventually(value).toMatch(/passed, data back in 1 min 7 s$/);
  await chart.getByText("7.0 s over the objective").waitFor();
  await chart.getByText("1 test without a measured time: see the table.").waitFor();
  expect(await slider.locator("svg text").allTextContents()).toEqual(
    expect.arrayContaining(["0", "30 s", "1 min", "objective 1 minute"]),
  );
  await slider.focus();
  await page.keyboard.press("ArrowLeft");
  await eventually(value).toMatch(/failed, data back in 14\.5 s$/);
  await chart.getByText("within the objective").waitFor();
  const { width = 0 } = (await slider.boundingBox()) ?? {};
  await slider.hover({ position: { x: 70, y: 100 } });
  await eventually(value).toMatch(/passed, data back in 42\.5 s$/);
  await chart.getByRole("list", { name: "Where the time went" }).getByText("Restore 40.0 s").waitFor();
  await slider.hover({ position: { x: width - 16, y: 100 } });
  await eventually(value).toMatch(/1 min 7 s$/);
  await expectAccessible(page);
  await screenshotsOf(page, "source-chart");
});

test("a failed test shows which check did not hold", async () => {
  await page.goto(`${dashboard.server.url}/sources/${orders}?tab=tests`);
  const status = page.getByRole("region", { name: "Status" });
  await status
    .getByRole("definition")
    .filter({ hasText: /^has-orders$/ })
    .waitFor();
  await status
    .getByRole("definition")
    .filter({ hasText: /^n = 3/ })
    .waitFor();
  const checks = page.getByRole("region", { name: "Checks of the last test" });
  await checks.getByText("check has-orders failed").waitFor();
  await page.getByRole("row", { name: /has-orders.*n = 3.*did NOT hold/ }).waitFor();
  await expectAccessible(page);
});

test("Home and the source's page say why a backup failed and how to start a stopped agent, and Home backs up again", async () => {
  const broken = await dashboard.addOrg("Broken");
  const stopped = await attach(broken, { name: "host-3" });
  const ledger = await declareSource(stopped, "ledger");
  const reported = await stopped.call("POST", "/v1/events", {
    kind: "backup_failed",
    source_id: ledger,
    occurred_at: new Date().toISOString(),
    detail: { reason: "dump_failed", message: "pg_dump: connection refused" },
  });
  const { event_id } = reported.json<{ event_id: string }>();
  const own = await dashboard.open(broken.owner);
  const worst = own.getByRole("region", { name: "Needs attention" });
  await worst.getByText("ledger: its last backup failed").waitFor();
  await worst.getByText("pg_dump: connection refused").waitFor();
  const record = worst.getByRole("link", { name: "What the log says" });
  expect(await record.getAttribute("href")).toBe(`/events/${event_id}`);
  await worst.getByText("The service does not hear from the agent host-3.").waitFor();
  await eventually(() => worst.getByLabel("Command that starts the agent").textContent()).toMatch(
    /attestore/,
  );
  await worst.getByRole("button", { name: "Back up again" }).click();
  await worst.getByText("A backup is requested.").waitFor();
  await expectAccessible(own);
  await screenshotsOf(own, "home-backup-failed");
  await worst.getByRole("link", { name: "Open" }).click();
  const status = own.getByRole("region", { name: "Status" });
  await status.getByText("pg_dump: connection refused").waitFor();
  await status.getByText("The service does not hear from the agent host-3.").waitFor();
  await expectAccessible(own);
  await screenshotsOf(own, "source-backup-failed");
  // By now the agent may have been missed too, with a link of its own.
  await status
    .getByRole("link", { name: "What the log says" })
    .and(own.locator(`[href="/events/${event_id}"]`))
    .click();
  await heading(own, "Backup failed");
  await own.getByText("pg_dump: connection refused", { exact: true }).waitFor();
  const withoutKit = { recipients: [], recovery_kit: null };
  const sources = [{ slug: "ledger", engine: "postgresql" }];
  const beat = heartbeatBody({ sources, encryption: withoutKit });
  expect((await stopped.call("POST", "/v1/heartbeat", beat)).status).toBe(200);
  // It counts as running for some seconds, and nothing tells the page when they are over.
  const overview = { method: "GET", path: `/api/orgs/${broken.id}/overview`, token: broken.owner.token };
  await until("the agent counts as stopped", async () => {
    const { agents } = (await api(dashboard.server, overview)).json<{
      agents: { is_running: boolean }[];
    }>();
    return agents.every(({ is_running }) => !is_running);
  });
  await own.goto(`${dashboard.server.url}/agents/${stopped.id}`);
  await own.getByText("The service does not hear from the agent host-3.").waitFor();
  await own.getByText("not running", { exact: true }).waitFor();
  await eventually(() => own.getByLabel("Commands for the recovery kit").textContent()).toMatch(
    /^(npx|sudo) attestore keys recovery-kit --output kit.html\n/,
  );
  await expectAccessible(own);
  await screenshotsOf(own, "agent-stopped");
});

test("API calls are filtered by caller, method and status, and each has its own page", async () => {
  const auditor = await dashboard.addPerson(org, "auditor");
  await expect(call(auditor, "POST", `/api/orgs/${org.id}/sources`, {})).rejects.toThrow("403");
  await page.goto(`${dashboard.server.url}/api-logs`);
  await heading(page, "API log");
  const rows = page.getByRole("table", { name: "API calls, newest first" }).getByRole("row");
  await rows.nth(49).waitFor();
  const before = await rows.count();
  await page.getByRole("button", { name: "Show more" }).click();
  await eventually(() => rows.count()).toBeGreaterThan(before);
  await screenshotsOf(page, "api-logs");
  await expectAccessible(page);
  await page.getByRole("combobox", { name: "Person or agent" }).selectOption({ label: auditor.email });
  await page.getByRole("combobox", { name: "Method" }).selectOption("POST");
  await page.getByRole("textbox", { name: "Answer" }).fill("403");
  await eventually(() => rows.count()).toBe(2);
  await rows.filter({ hasText: "sources" }).getByRole("link").click();
  await heading(page, "POST /api/orgs/:orgID/sources");
  await page.getByText("not allowed").waitFor();
  await page.getByText(/^req_/).waitFor();
  await expectAccessible(page);
  await screenshotsOf(page, "api-log");
  await page.goBack();
  await heading(page, "API log");
  await page.getByRole("textbox", { name: "Answer" }).fill("999");
  await page.getByText("Enter a status of three digits, such as 403.").waitFor();
});

test("a reader with an auditor link sees the sources of a period, and no buttons", async () => {
  const day_ms = 86_400_000;
  const link = await call<{ url: string }>(org.owner, "POST", `/api/orgs/${org.id}/auditor-links`, {
    name: "SOC 2",
    from: new Date(Date.now() - day_ms).toISOString(),
    to: new Date(Date.now() + day_ms).toISOString(),
  });
  const reader = await dashboard.open(null, new URL(link.url).pathname + new URL(link.url).hash);
  await reader.getByRole("button", { name: "Open" }).click();
  await reader.getByRole("navigation").getByRole("link", { name: "Sources" }).click();
  await heading(reader, "Sources");
  await expectAccessible(reader);
  await reader.getByRole("link", { name: "orders" }).click();
  await heading(reader, "orders");
  await reader.getByRole("tab", { name: "Restore tests" }).waitFor();
  await reader.getByText("check has-orders failed").waitFor();
  await expect.poll(() => reader.getByRole("tab").allTextContents()).toEqual(["Restore tests", "Settings"]);
  await expect.poll(() => reader.getByRole("button", { name: /now|Change|Remove/ }).count()).toBe(0);
  await expectAccessible(reader);
});

test("an operator reads that these pages belong to an organisation", async () => {
  const operator = await dashboard.addPerson(null, "operator");
  const own = await dashboard.open(operator, "/sources");
  for (const path of ["/sources", "/commands", "/api-logs"]) {
    await own.goto(dashboard.server.url + path);
    await own.getByText("Your role does not allow this").waitFor();
    await expectAccessible(own);
  }
});

test("empty lists, unknown ids and a missing answer each show their own message", async () => {
  const empty = await dashboard.addOrg("Empty");
  const own = await dashboard.open(empty.owner, "/sources");
  await own.getByText(/^No sources yet\./).waitFor();
  await expectAccessible(own);
  await screenshotsOf(own, "sources-empty");
  await own.goto(`${dashboard.server.url}/commands`);
  await own.getByText(/^No jobs yet\./).waitFor();
  // Another organisation's source is not found.
  for (const path of [`/sources/${orders}`, "/commands/cmd_nothing", "/api-logs/log_nothing"]) {
    await own.goto(dashboard.server.url + path);
    await heading(own, "Page not found");
  }
  await own.route("**/api/orgs/*/overview*", (route) => route.abort());
  await own.goto(`${dashboard.server.url}/sources`);
  await own.getByText("The service does not answer.").waitFor();
  await own.unroute("**/api/orgs/*/overview*");
  await own.getByRole("button", { name: "Try again" }).click();
  await own.getByText(/^No sources yet\./).waitFor();
});

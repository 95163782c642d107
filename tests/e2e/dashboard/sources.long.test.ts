/** In the browser, with the real service and agents: sources, commands and API calls. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CIPHER, declareSource, heartbeatBody, put, SOURCE_METADATA, uploadUrl } from "../harness/backups.ts";
import type { BackupRecord } from "../harness/backups.ts";
import { attachedHost, type Host } from "../harness/host.ts";
import { api } from "../harness/https.ts";
import { attach, type WireAgent } from "../harness/organisation.ts";
import type { Running } from "../harness/programs.ts";
import { accepted, backupStatement, restoreTestStatement } from "../harness/statements.ts";
import { until } from "../harness/wait.ts";
import {
  type Dashboard,
  type DashboardOrg,
  expectAccessible,
  openDashboard,
  type Person,
  screenshotsOf,
} from "./open-dashboard.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await openDashboard({ ATTESTORE_HEARTBEAT_INTERVAL_S: "1" });
});
afterAll(() => dashboard.close());

const call = async <T>(person: Person, method: string, path: string, json?: unknown): Promise<T> => {
  const answer = await api(dashboard.server, { method, path, token: person.token, json });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body.toString()}`);
  return answer.json<T>();
};
/** How long a busy machine may take to load a page. */
const eventually = <T>(ask: () => T | Promise<T>) => expect.poll(ask);
const heading = (page: Page, name: string | RegExp) =>
  page.getByRole("heading", { name, level: 1 }).waitFor();
const descriptionOf = (page: Page, name: string) =>
  page.getByRole("button", { name }).getAttribute("aria-description");

interface HistoryOptions {
  /** How many days ago each backup was made. */
  days: readonly number[];
  result?: "passed" | "failed";
  summary?: (backup: number) => object;
}

/** Past backups with their receipts, and a restore test of the newest. */
async function history(agent: WireAgent, sourceId: string, options: HistoryOptions): Promise<BackupRecord[]> {
  const made: BackupRecord[] = [];
  for (const [index, days] of options.days.entries()) {
    const bytes = randomBytes(1500 + index);
    const upload = await uploadUrl(agent, sourceId, bytes);
    await put(agent, upload, bytes);
    const summary = options.summary?.(index);
    const answer = await agent.call("POST", "/v1/backups", {
      upload_id: upload.upload_id,
      source_id: sourceId,
      created_at: new Date(Date.now() - days * 86_400_000).toISOString(),
      cipher: CIPHER,
      source_metadata:
        summary === undefined
          ? SOURCE_METADATA
          : {
              ...SOURCE_METADATA,
              schema_hash: index.toString(16).padStart(2, "0").repeat(32),
              schema_summary: summary,
            },
    });
    if (answer.status !== 201) throw new Error(`register: ${answer.body.toString()}`);
    const backup = answer.json<BackupRecord>();
    await accepted(agent, backupStatement(agent, backup));
    made.push(backup);
  }
  const newest = made.at(-1);
  if (newest !== undefined && options.result !== undefined)
    await accepted(agent, restoreTestStatement(agent, newest, options.result));
  return made;
}

const table = (name: string, parts: Record<string, string>) => ({ kind: "table", name, parts });

describe("a source with a real agent", () => {
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
});

describe("editors of a source's settings", () => {
  let org: DashboardOrg;
  let wire: WireAgent;
  let sourceId: string;
  let page: Page;
  const settings = async (): Promise<void> => {
    await page.goto(`${dashboard.server.url}/sources/${sourceId}?tab=settings`);
    await page.getByRole("tabpanel", { name: "Settings" }).waitFor();
  };
  const configured = () =>
    call<Record<string, unknown>>(org.owner, "GET", `/api/orgs/${org.id}/sources/${sourceId}`);

  beforeAll(async () => {
    org = await dashboard.addOrg("Editors");
    wire = await attach(org, { name: "host-1" });
    sourceId = await declareSource(wire, "orders");
    await history(wire, sourceId, { days: [40, 30, 20, 10, 0], result: "passed" });
    page = await dashboard.open(org.owner, `/sources/${sourceId}?tab=settings`);
  });

  test("the schedule editor explains errors while somebody types, and shows the next five times and clock changes", async () => {
    await page.getByRole("button", { name: "Change the schedule" }).click();
    const form = page.getByRole("form", { name: "Change the schedule" });
    const backups = form.getByRole("textbox", { name: "Backups: cron fields" });
    const save = form.getByRole("button", { name: "Save" });
    await backups.fill("30 25 * * *");
    await form.getByText("The hour, “25”, goes from 0 to 23.").waitFor();
    await expect.poll(() => save.getAttribute("aria-description")).toBe("Correct the fields first.");
    // Well-formed, but matches no time: only the service knows that.
    await backups.fill("0 2 31 feb *");
    await form.getByText(/five cron fields that match some time/).waitFor();
    await expectAccessible(page);

    await backups.fill("30 2 * * *");
    await form.getByText("At 02:30, every day").waitFor();
    await form.getByRole("combobox", { name: "Time zone" }).selectOption("Europe/Berlin");
    await form
      .getByRole("combobox", { name: "Common schedules for Restore tests" })
      .selectOption({ label: "Every Sunday at 04:00" });
    await form.getByText("At 04:00, only on Sunday").waitFor();
    const next = form.getByRole("list", { name: "The next five backups" }).getByRole("listitem");
    await eventually(() => next.count()).toBe(5);
    await expect.poll(() => next.first().textContent()).toMatch(/, 02:30 \(Europe\/Berlin, UTC\+0[12]:00\)/);
    const changes = form.getByRole("list", { name: "When the clocks change" });
    await changes.getByText(/this time does not exist on that day/).waitFor();
    await changes.getByText(/this time occurs twice on that day/).waitFor();
    await expectAccessible(page);
    await screenshotsOf(page, "source-schedule");

    await page.route("**/configure", (route) => route.abort());
    await save.click();
    await page.getByRole("status").getByText("Not saved, so the page shows what was there before.").waitFor();
    await page.getByText("Nothing is scheduled here.").waitFor();
    expect(await configured()).toMatchObject({ schedule: null });
    await page.unroute("**/configure");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("status").getByText("orders: schedule saved.").waitFor();
    await eventually(configured).toMatchObject({
      schedule: { backup_cron: "30 2 * * *", restore_test_cron: "0 4 * * sun", timezone: "Europe/Berlin" },
    });
    // The focus is back on the button that opened the editor.
    await eventually(() => page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe(
      "Change the schedule",
    );
    await page.getByText("At 02:30, every day").waitFor();
  });

  test("the retention editor shows which backups would be removed, and why, before it saves", async () => {
    await settings();
    await page.getByText("No rules: every backup is kept.").waitFor();
    await page.getByRole("button", { name: "Change what is kept" }).click();
    const form = page.getByRole("form", { name: "Change what is kept" });
    const newest = form.getByRole("textbox", { name: "The newest", exact: true });
    await newest.fill("two");
    await form.getByText("A whole number from 0 to 100,000").first().waitFor();
    await newest.fill("2");
    await form.getByText("3 backups would be removed").waitFor();
    const rows = form.getByRole("table", { name: "What the rules would do" }).getByRole("row");
    await rows.filter({ hasText: "kept: among the newest, the newest proven one" }).waitFor();
    await expect.poll(() => rows.filter({ hasText: /removed$/ }).count()).toBe(3);
    await form.getByRole("checkbox", { name: "Only removals" }).check();
    await eventually(() => rows.count()).toBe(4);
    await expectAccessible(page);
    await screenshotsOf(page, "source-retention");
    // Nothing was removed, and cancelling changes nothing.
    await page.keyboard.press("Escape");
    expect((await configured())["retention"]).toBeNull();

    await page.getByRole("button", { name: "Change what is kept" }).click();
    await newest.fill("2");
    await form.getByRole("textbox", { name: "One a month" }).fill("12");
    await form.getByRole("button", { name: /^Save and remove \d backups?$/ }).click();
    await eventually(configured).toMatchObject({ retention: { keep_last: 2, keep_monthly: 12 } });
    await page.getByText("one a month for 12 months").waitFor();
  });

  test("the objectives editor saves, and the page then compares with the new objectives", async () => {
    await settings();
    await page.getByRole("button", { name: "Change the objectives" }).click();
    const form = page.getByRole("form", { name: "Change the objectives" });
    await form.getByRole("textbox", { name: /RPO/ }).fill("26");
    await form.getByRole("textbox", { name: /RTO/ }).fill("0");
    await form.getByText("Enter a whole number of 1 or more, up to ten years").waitFor();
    await form.getByRole("textbox", { name: /RTO/ }).fill("2");
    await form.getByRole("combobox", { name: /RTO/ }).selectOption("minutes");
    await expectAccessible(page);
    await page.keyboard.press("Enter");
    await eventually(configured).toMatchObject({ objectives: { rpo_s: 26 * 3600, rto_s: 120 } });
    await page.getByText("within the objective of 26 hours").waitFor();
    await page.getByRole("tab", { name: "Restore tests" }).click();
    await page.getByText("Objective: the data is back within 2 minutes.").waitFor();
    await page.getByRole("cell", { name: "within", exact: true }).waitFor();
  });

  test("the configuration editor changes the name, and adds a second agent to test restores", async () => {
    const tester = await attach(org, { name: "host-2" });
    await settings();
    await page.getByRole("button", { name: "Change name and agents" }).click();
    const form = page.getByRole("form", { name: "Change name and agents" });
    await form.getByRole("textbox", { name: "Name" }).fill("  ");
    await form.getByText("Enter a name of 1 to 100 characters").waitFor();
    await form.getByRole("textbox", { name: "Name" }).fill("Orders of the shop");
    await form.getByRole("combobox", { name: "Agent that tests restores" }).selectOption(tester.id);
    await expectAccessible(page);
    await form.getByRole("button", { name: "Save" }).click();
    await heading(page, "Orders of the shop");
    await eventually(configured).toMatchObject({ test_agent_id: tester.id, agent_id: wire.id });
    await page.getByRole("status").getByText("orders: name and agents saved.").waitFor();
    await page.getByRole("button", { name: "Undo" }).last().click();
    await heading(page, "orders");
    await eventually(configured).toMatchObject({ name: "orders", test_agent_id: null, agent_id: wire.id });
    await page.getByRole("status").getByText("Undone.").waitFor();
    await page.getByRole("button", { name: "Change name and agents" }).click();
    await form.getByRole("textbox", { name: "Name" }).fill("Orders of the shop");
    await form.getByRole("combobox", { name: "Agent that tests restores" }).selectOption(tester.id);
    await form.getByRole("button", { name: "Save" }).click();
    await eventually(configured).toMatchObject({ test_agent_id: tester.id });
    await screenshotsOf(page, "source-settings");
  });

  test("a disabled button says why it is disabled: the run is already requested, or the agent is revoked", async () => {
    await page.goto(`${dashboard.server.url}/sources/${sourceId}`);
    await page.getByRole("button", { name: "Back up now" }).click();
    await page.getByText("waiting for the agent").waitFor();
    await eventually(() => descriptionOf(page, "Back up now")).toContain("already queued or running");
    await page.getByText("The agent has not taken it yet.").waitFor();
    await expect
      .poll(() =>
        page
          .getByRole("region", { name: "Under way" })
          .getByLabel("Command that starts the agent")
          .textContent(),
      )
      .toMatch(/attestore/);
    const delivered = await wire.call("POST", "/v1/heartbeat", heartbeatBody());
    const [command] = delivered.json<{ commands: { id: string }[] }>().commands;
    const progress = { phase: "upload", bytes: 2 * 1024 ** 3, total_bytes: 8 * 1024 ** 3, phase_ms: 40_000 };
    const ended = [{ phase: "dump", bytes: 8 * 1024 ** 3, took_ms: 61_000 }];
    await wire.call("POST", `/v1/commands/${command?.id}/progress`, { ...progress, ended });
    await page.getByText("Uploading: 2.1 GB of 8.6 GB, 53.7 MB/s, 2 min left").waitFor();
    await page.getByRole("progressbar", { name: "How far it is" }).waitFor();
    const over = page.getByRole("list", { name: "Phases that are over" });
    await over.getByText("Dumped 8.6 GB in 1 min 1 s").waitFor();
    await expectAccessible(page);
    await screenshotsOf(page, "source-under-way");
    const other = await attach(org, { name: "gone-host" });
    const lost = await declareSource(other, "lost");
    await call(org.owner, "POST", `/api/orgs/${org.id}/agents/${other.id}/revoke`, {});
    await page.goto(`${dashboard.server.url}/sources/${lost}`);
    await eventually(() => descriptionOf(page, "Back up now")).toContain("The agent gone-host is revoked");
  });

  test("an auditor can read every setting and change none", async () => {
    const auditor = await dashboard.addPerson(org, "auditor");
    const reading = await dashboard.open(auditor, `/sources/${sourceId}?tab=settings`);
    await reading.getByText("Your role is read-only").waitFor();
    await reading.getByText("At 02:30, every day").waitFor();
    await expect.poll(() => reading.getByRole("button", { name: /^(Change|Remove)/ }).count()).toBe(0);
    await expect.poll(() => descriptionOf(reading, "Back up now")).toContain("Your role is read-only");
    await expectAccessible(reading);
  });

  test("removing a source lists what is removed and what stays, and needs a confirmation", async () => {
    await settings();
    await page.getByRole("button", { name: "Remove this source" }).click();
    const dialog = page.getByRole("dialog", { name: "Remove Orders of the shop?" });
    await dialog.getByText("the source orders, with its schedule, retention and objectives").waitFor();
    await dialog.getByText(/its backups: they are not deleted/).waitFor();
    await expectAccessible(page);
    await screenshotsOf(page, "source-remove");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    expect((await configured())["id"]).toBe(sourceId);
    await page.getByRole("button", { name: "Remove this source" }).click();
    await dialog.getByRole("button", { name: "Remove Orders of the shop" }).click();
    await heading(page, "Sources");
    await page.getByRole("row", { name: /lost/ }).waitFor();
    await expect.poll(() => page.getByRole("row", { name: /Orders of the shop/ }).count()).toBe(0);
    await page.goto(`${dashboard.server.url}/sources/${sourceId}`);
    await heading(page, "Page not found");
  });
});

describe("lists and pages of sources", () => {
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
        objects: [
          table("orders", { "column id": "bigint", ...(index > 27 ? { "column note": "text" } : {}) }),
        ],
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
    await own.getByText("The service does not answer.").waitFor({ timeout: 30_000 });
    await own.unroute("**/api/orgs/*/overview*");
    await own.getByRole("button", { name: "Try again" }).click();
    await own.getByText(/^No sources yet\./).waitFor();
  });
});

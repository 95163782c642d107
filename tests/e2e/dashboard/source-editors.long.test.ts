import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { declareSource, heartbeatBody } from "../harness/backups.ts";
import { attach, type WireAgent } from "../harness/organisation.ts";
import { type DashboardOrg, expectAccessible, screenshotsOf } from "./open-dashboard.ts";
import {
  call,
  dashboard,
  descriptionOf,
  eventually,
  heading,
  history,
  useSourcesDashboard,
} from "./sources-dashboard.ts";

useSourcesDashboard();

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

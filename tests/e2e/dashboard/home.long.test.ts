import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { declareSource, heartbeatBody } from "../harness/backups.ts";
import { api } from "../harness/https.ts";
import { attach } from "../harness/organisation.ts";
import { accepted, restoreTestStatement } from "../harness/statements.ts";
import { expectAccessible, screenshotsOf } from "./open-dashboard.ts";
import { NARROW } from "./screens.ts";
import {
  agent,
  archive,
  backUp,
  dashboard,
  headline,
  org,
  rowOf,
  useDashboard,
  useHistory,
} from "./home-history.ts";
import { neverReuse } from "./reused-pages.ts";

useDashboard();

/**
 * Holds back a list's first call until the page is connected to the event stream. A list read
 * before would be refetched at that moment, because changes may have been missed.
 */
async function readOnlyOnceItListens(page: Page, list: string): Promise<void> {
  neverReuse(page);
  await page.addInitScript(() => {
    window.EventSource = class extends EventSource {
      constructor(url: string | URL) {
        super(url);
        this.addEventListener("ready", () => {
          document.documentElement.dataset["listens"] = "yes";
        });
      }
    };
  });
  await page.route(list, async (route) => {
    await page.waitForFunction(() => document.documentElement.dataset["listens"] === "yes");
    await route.continue();
  });
}

test("an empty organisation sees seven steps, each of which is checked off without a reload, and the first proof is celebrated", async () => {
  const org = await dashboard.addOrg();
  const page = await dashboard.open(org.owner);
  const step = page.locator('[aria-current="step"]');
  const steps = (words: string) => page.getByRole("region", { name: words });
  await page.getByRole("heading", { name: "Nothing is proven yet." }).waitFor();
  await steps("Get to your first proof: 0 of 7 steps done").waitFor();
  await expect
    .poll(() => step.getByRole("link", { name: "Attach an agent" }).getAttribute("href"))
    .toBe("/attach");
  await expectAccessible(page);
  await screenshotsOf(page, "home-empty");
  const agent = await attach(org);
  await step.getByText("attestore source add").waitFor();
  await expect
    .poll(() => step.getByRole("link", { name: "Add a source" }).getAttribute("href"))
    .toBe("/sources/add");
  await expectAccessible(page);
  await screenshotsOf(page, "home-no-source");
  const sourceId = await declareSource(agent, "orders-db");
  // It was heard, so it runs.
  await step.getByRole("button", { name: "Back up now: orders-db" }).click();
  await step.getByText("Under way.").waitFor();
  await expectAccessible(page);
  await page.reload();
  await step.getByText("Make the first backup").waitFor();
  await steps("Get to your first proof: 3 of 7 steps done").waitFor();
  const backup = await backUp(agent, sourceId);
  await step.getByRole("button", { name: "Test a restore now: orders-db" }).waitFor();
  await accepted(agent, restoreTestStatement(agent, backup));
  await page.getByRole("heading", { name: "Your source is proven." }).waitFor();
  await page.getByRole("heading", { name: "Your first proof", exact: true }).waitFor();
  await steps("From one proof to all: 5 of 7 steps done").waitFor();
  await expectAccessible(page);
  await screenshotsOf(page, "home-first-proof");
  await page.getByRole("button", { name: "Go on" }).click();
  await page.reload();
  await step.getByText("Have it done every day").waitFor();
  await expect.poll(() => page.getByText("Your first proof").count()).toBe(0);
  await page.getByRole("button", { name: "Hide these steps" }).click();
  await page.getByText("Your next step").waitFor();
  // Also when the page was left meanwhile.
  const pages = page.getByRole("navigation").first();
  await pages.getByRole("link", { name: /^Agents/ }).click();
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  await pages.getByRole("link", { name: "Home" }).click();
  await page.getByText("Your next step").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await step.getByText("Have it done every day").waitFor();
  await page.getByRole("button", { name: "Hide these steps" }).click();
  await page.getByText("Your next step").waitFor();
  await expectAccessible(page);
});

describe("an organisation with a history", () => {
  useHistory();

  test("the home page shows 90 days, and filters sources by name", async () => {
    const page = await dashboard.open(org.owner);
    await page.getByText("90 days", { exact: true }).click();
    await page
      .getByRole("img", { name: /^Last 90 days/ })
      .first()
      .waitFor();
    await page.getByLabel("Filter sources by name").fill("ARCH");
    await page.getByText("1 of 4 sources", { exact: true }).waitFor();
    await expect.poll(() => page.getByRole("rowheader").allTextContents()).toHaveLength(1);
    await page.getByLabel("Filter sources by name").fill("nothing like that");
    await page.getByText("No source has “nothing like that” in its name.").waitFor();
    await expectAccessible(page);
  });

  test("chips filter by state, a day's bar shows its date, and a row's menu starts a restore test", async () => {
    const page = await dashboard.open(org.owner);
    const rows = page.getByRole("rowheader");
    await page.getByRole("group", { name: "Filter sources by state" }).getByText("Failed 1").click();
    await expect.poll(() => rows.allTextContents()).toEqual([expect.stringContaining("billing")]);
    await page.getByText("All 4", { exact: true }).click();
    await expect.poll(() => rows.count()).toBe(4);
    // A chip that was pressed takes no text, so the keys still work.
    await page.keyboard.press("j");
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.closest("tr")?.textContent))
      .toContain("billing");

    const strip = rowOf(page, "orders-db").getByRole("img");
    const { width } = (await strip.boundingBox()) ?? { width: 0 };
    await strip.hover({ position: { x: width - 2, y: 10 } });
    const today = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", day: "numeric", month: "short" });
    await rowOf(page, "orders-db")
      .getByText(`${today.format(new Date())}proven`)
      .waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => rowOf(page, "orders-db").getByText(today.format(new Date())).count()).toBe(0);

    await page.getByRole("button", { name: "Actions for orders-db" }).press("Enter");
    await page.getByRole("menuitem", { name: "Test a restore now" }).waitFor();
    await expectAccessible(page);
    await page.getByRole("menuitem", { name: "Test a restore now" }).click();
    await rowOf(page, "orders-db").getByText("A restore test is queued or running").waitFor();
    await page.getByRole("button", { name: "Actions for orders-db" }).click();
    const again = page.getByRole("menuitem", { name: "Test a restore now" });
    await expect.poll(() => again.getAttribute("aria-description")).toContain("already queued or running");
    // Nothing of it is left for the tests below.
    const heard = await agent.call("POST", "/v1/heartbeat", heartbeatBody());
    const [command] = heard.json<{ commands: { id: string }[] }>().commands;
    expect(command?.id).toMatch(/^cmd_/);
  });

  test("the palette opens with Ctrl+K, finds a source and starts its backup; single keys move between pages and rows", async () => {
    const page = await dashboard.open(org.owner);
    await headline(page).waitFor();
    await page.keyboard.press("Control+k");
    const dialog = page.getByRole("dialog", { name: "Search" });
    const field = dialog.getByRole("combobox", { name: "What to look for" });
    await field.fill("arch");
    await dialog.getByRole("option", { name: "archive" }).first().waitFor();
    await expectAccessible(page);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "archive", level: 1 }).waitFor();
    await page.keyboard.press("Control+k");
    await field.fill("back up billing");
    await expect
      .poll(() => dialog.getByRole("option", { selected: true }).textContent())
      .toBe("Back up now: billingAction");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "billing", level: 1 }).waitFor();
    await page.getByText("waiting for the agent").waitFor();
    const heard = await agent.call("POST", "/v1/heartbeat", heartbeatBody());
    expect(heard.json<{ commands: unknown[] }>().commands).toHaveLength(1);

    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await page.getByRole("heading", { name: "Sources", level: 1 }).waitFor();
    await page.getByRole("link", { name: "archive" }).waitFor();
    await page.keyboard.press("/");
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute("type"))).toBe("search");
    await page.keyboard.type("gs");
    await expect.poll(() => page.getByRole("searchbox").inputValue()).toBe("gs");
    await page.getByRole("searchbox").fill("");
    await page.getByRole("heading", { level: 1 }).click();
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    const names = await page.locator("tbody tr a[href^='/sources/']").allTextContents();
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    for (const [key, index] of [
      ["j", 0],
      ["j", 1],
      ["k", 0],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(focused).toBe(names[index]);
    }
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await help.getByRole("switch", { name: "Use the keys without Ctrl or ⌘" }).click();
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "detached" });
    await page.keyboard.press("?");
    await page.keyboard.press("Control+k");
    await dialog.waitFor();
    await expect.poll(() => help.count()).toBe(0);
  });

  test("on a phone the bar at the bottom leads to every page, and nothing is cut off", async () => {
    const page = await dashboard.open(org.owner);
    await page.setViewportSize(NARROW);
    const bar = page.getByRole("navigation", { name: "Main pages" });
    await bar.getByRole("link", { name: "Sources" }).click();
    await page.getByRole("heading", { name: "Sources", level: 1 }).waitFor();
    await page.getByRole("link", { name: "archive" }).click();
    const button = page.getByRole("button", { name: "Test a restore now" });
    await expect.poll(async () => (await button.boundingBox())?.height).toBeGreaterThanOrEqual(24);
    await bar.getByRole("button", { name: "More" }).click();
    const pages = page.getByRole("navigation", { name: "Navigation" });
    await pages.getByText("Times are in Europe/Berlin.").waitFor();
    await pages.getByRole("link", { name: /^Agents/ }).click();
    await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
    await bar.getByRole("link", { name: "Home" }).click();
    await headline(page).waitFor();
    const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement);
    expect(scrollWidth).toBe(clientWidth);
  });

  test("a page that fails to load says so, and retries on request", async () => {
    const page = await dashboard.open(null);
    await page.context().route("**/overview?*", (route) => route.abort());
    await page.context().addCookies([
      {
        name: "__Host-attestore_session",
        value: org.owner.token,
        url: dashboard.server.url,
        httpOnly: true,
        secure: true,
        sameSite: "Strict",
      },
    ]);
    await page.goto(dashboard.server.url);
    const alert = page.getByRole("alert");
    await alert.waitFor();
    await expect.poll(() => alert.textContent()).toContain("The service does not answer.");
    await expectAccessible(page);
    await screenshotsOf(page, "home-failed");
    await page.context().unroute("**/overview?*");
    await page.getByRole("button", { name: "Try again" }).click();
    await headline(page).waitFor();
  });

  test("a new row appears in a list by itself, and the row being read stays where it is", async () => {
    const page = await dashboard.open(org.owner);
    await readOnlyOnceItListens(page, "**/api/orgs/*/receipts?*");
    await page.goto(`${dashboard.server.url}/receipts`);
    const rows = page.getByRole("table").getByRole("row");
    await rows.nth(1).waitFor();
    const read = await rows.count();
    await page.setViewportSize({ width: 1280, height: 400 });
    const first = page.getByRole("link", { name: /restore test|backup made/i }).first();
    const href = (await first.getAttribute("href")) ?? "";
    const reading = page.getByRole("table").locator(`a[href="${href}"]`);
    // Both at the list's beginning, where the browser itself holds nothing, and further down.
    for (const [more, scrolled] of [
      [1, 0],
      [2, 150],
    ] as const) {
      await page.evaluate((top) => window.scrollTo(0, top), scrolled);
      const { y } = (await reading.boundingBox()) ?? { y: Number.NaN };
      await backUp(agent, archive);
      await expect.poll(() => rows.count()).toBe(read + more);
      await page.getByRole("status").getByText("1 new row at the top").waitFor();
      expect((await reading.boundingBox())?.y).toBeCloseTo(y, 0);
    }
    // The newest is above it, and was not there before.
    expect(await rows.nth(1).locator("a").first().getAttribute("href")).not.toBe(href);
    expect(await page.getByRole("button", { name: /newer/i }).count()).toBe(0);
    await expectAccessible(page);
  });

  test("an auditor sees the same page without the next steps", async () => {
    const page = await dashboard.open(await dashboard.addPerson(org, "auditor"));
    await headline(page).waitFor();
    await expect.poll(() => page.getByText(/Your next step|steps done/).count()).toBe(0);
    await expectAccessible(page);
  });

  test("signing out in one tab ends the session in every tab", async () => {
    const token = await dashboard.signIn(org.owner.email);
    const page = await dashboard.open({ ...org.owner, token });
    await headline(page).waitFor();
    // The page is connected by now; a second tab of the same browser gets events through it.
    neverReuse(page);
    const tab = await page.context().newPage();
    await tab.goto(dashboard.server.url);
    await headline(tab).waitFor();
    const signedOut = await api(dashboard.server, { method: "POST", path: "/api/auth/logout", token });
    expect(signedOut.status).toBe(200);
    for (const one of [page, tab]) await one.getByRole("heading", { name: "Sign in" }).waitFor();
  });
});

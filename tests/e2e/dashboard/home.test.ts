import { describe, expect, test } from "vitest";
import { scriptSize } from "../../../packages/dashboard/bench/script-size.ts";
import { api, exchange } from "../harness/https.ts";
import { complaintsOf } from "./complaints.ts";
import { expectAccessible, screenshotsOf } from "./open-dashboard.ts";
import {
  agent,
  archive,
  billing,
  dashboard,
  org,
  prove,
  rowOf,
  useDashboard,
  useHistory,
} from "./home-history.ts";

useDashboard();

test("a visitor who is not signed in is sent to the sign-in page", async () => {
  const page = await dashboard.open(null);
  await page.getByRole("heading", { name: "Sign in", level: 1 }).waitFor();
  await expectAccessible(page);
  expect(new URL(page.url()).pathname).toBe("/login");
});

test("the font comes from the service, like everything that a page loads", async () => {
  const page = await dashboard.open(null);
  await page.getByRole("heading", { name: "Sign in", level: 1 }).waitFor();
  const fonts = await page.evaluate(async () => {
    await document.fonts.ready;
    return [...document.fonts].filter(({ status }) => status === "loaded").map(({ family }) => family);
  });
  expect(fonts).toEqual(["Inter Variable"]);
  const loaded = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
  expect(loaded.filter((url) => url.endsWith(".woff2"))).toHaveLength(1);
  expect(new Set(loaded.map((url) => new URL(url).origin))).toEqual(new Set([dashboard.server.url]));
  const licence = await exchange(dashboard.server, { method: "GET", path: "/assets/inter-licence.txt" });
  expect(licence.body.toString()).toContain("SIL Open Font License");
});

test("the scripts of all pages together have at most 350 kB in gzip", () => {
  expect(scriptSize().all).toBeLessThanOrEqual(350_000);
});

test("injected markup cannot bring its own styles", async () => {
  const page = await dashboard.open(null);
  await page.getByRole("heading", { name: "Sign in", level: 1 }).waitFor();
  const policies: string[] = [];
  for (const _ of [1, 2]) {
    const { headers } = await exchange(dashboard.server, { method: "GET", path: "/" });
    policies.push(String(headers["content-security-policy"]));
  }
  expect(policies[0]).toMatch(/style-src 'self' 'nonce-[^']{24}';/);
  expect(policies[1]).not.toBe(policies[0]);
  expect(policies.join()).not.toContain("unsafe-inline");
  const colour = await page.evaluate(() => {
    document.body.insertAdjacentHTML(
      "beforeend",
      '<style>#strange { color: rgb(1, 2, 3) }</style><b id="strange" style="color: rgb(1, 2, 3)">x</b>',
    );
    return getComputedStyle(document.querySelector("#strange") ?? document.body).color;
  });
  expect(colour).not.toBe("rgb(1, 2, 3)");
  // The browser complains of it twice, and of nothing else: the components' own styles apply.
  expect(complaintsOf(page)).toHaveLength(2);
  await page.close();
});

describe("an organisation with a history", () => {
  useHistory();

  test("the home page shows what is proven, worst first, with the days in words, the agents and the log", async () => {
    // Within the first second, the backup is not yet over its RPO.
    const overview = { method: "GET", path: `/api/orgs/${org.id}/overview`, token: org.owner.token };
    await expect
      .poll(async () => (await api(dashboard.server, overview)).body.toString())
      .toContain('"rpo_met":false');
    const page = await dashboard.open(org.owner);
    await page.getByRole("heading", { name: "1 of 4 sources is proven." }).waitFor();
    const worst = page.getByRole("region", { name: "Needs attention" });
    await worst.getByText("billing: its last restore test failed").waitFor();
    await expect
      .poll(() => worst.textContent())
      .toMatch(/Check.*Expected.*began .* ago · last proven 9 days ago2 other sources below/);
    expect(await worst.getByRole("link", { name: "Open" }).getAttribute("href")).toBe(`/sources/${billing}`);
    await page.getByRole("region", { name: "From one proof to all: 5 of 7 steps done" }).waitFor();
    const names = await page.getByRole("rowheader").getByRole("link").allTextContents();
    expect(names).toEqual(["billing", "new-db", "archive", "orders-db"]);
    await expect.poll(() => rowOf(page, "billing").textContent()).toContain("over its RPO of 1 s");
    const strip = await rowOf(page, "orders-db").getByRole("img").getAttribute("aria-label");
    expect(strip).toMatch(/^Last 30 days: failed on \d+ \w{3}; 7 proven; 2 backed up only; 20 nothing\.$/);
    await expect
      .poll(() => page.getByRole("region", { name: "Agents" }).textContent())
      .toContain("2 receipts");
    await expect
      .poll(() => page.getByRole("region", { name: "Transparency log" }).textContent())
      .toMatch(/\d+ entries/);
    await expectAccessible(page);
    await screenshotsOf(page, "home");
  });

  test("a change updates its row in place, and rows move only when the reader sorts again", async () => {
    const page = await dashboard.open(org.owner);
    await page.getByRole("heading", { name: "1 of 4 sources is proven." }).waitFor();
    await prove(agent, archive);
    await page.getByRole("heading", { name: "2 of 4 sources are proven." }).waitFor();
    const names = () => page.getByRole("rowheader").getByRole("link").allTextContents();
    await expect.poll(() => names()).toEqual(["billing", "new-db", "archive", "orders-db"]);
    await page.getByRole("button", { name: "Sort again, worst first" }).click();
    await expect.poll(() => names()).toEqual(["billing", "new-db", "orders-db", "archive"]);
  });
});

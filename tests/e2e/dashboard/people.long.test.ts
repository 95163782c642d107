/**
 * In the browser: members and roles, organisation settings, operators who act as a member, auditor
 * links.
 */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { api } from "../harness/https.ts";
import { attach } from "../harness/organisation.ts";
import { NARROW, WIDE } from "./screens.ts";
import {
  type Dashboard,
  type DashboardOrg,
  expectAccessible,
  openDashboard,
  type Person,
  screenshotsOf,
} from "./open-dashboard.ts";

let dashboard: Dashboard;
let org: DashboardOrg;
beforeAll(async () => {
  dashboard = await openDashboard();
  org = await dashboard.addOrg("Harbour Records");
});
afterAll(() => dashboard.close());

const heading = (page: Page, name: string) => page.getByRole("heading", { name, level: 1 }).waitFor();
const call = (person: Person, method: string, path: string, json?: unknown) =>
  api(dashboard.server, { method, path, token: person.token, json });

describe("members", () => {
  test("an owner invites somebody, changes their role, and removes them", async () => {
    const page = await dashboard.open(org.owner, "/members");
    await heading(page, "Members");
    // The only owner stays, and the button says why.
    const leave = page.getByRole("button", { name: `Remove ${org.owner.email}` });
    await expect.poll(() => leave.getAttribute("aria-disabled")).toBe("true");
    await expect.poll(() => leave.getAttribute("aria-description")).toContain("last owner");
    const hint = page.getByRole("tooltip").filter({ hasText: "last owner" });
    expect(await hint.isVisible()).toBe(false);
    await leave.focus();
    await hint.waitFor();
    await page.keyboard.press("Escape");
    await hint.waitFor({ state: "hidden" });
    await leave.hover();
    await hint.waitFor();
    const [box, width] = [await hint.boundingBox(), page.viewportSize()?.width ?? 0];
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width);

    await page.getByRole("button", { name: "Invite" }).click();
    await page.getByLabel("E-mail address").fill("kim@example.org");
    await page.getByLabel("Name (optional)").fill("Kim Auditor");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Send the invitation" }).click();
    await page.getByRole("row", { name: /kim@example\.org/ }).waitFor();
    await expect.poll(() => dashboard.server.talk()).toContain("mail to kim@example.org");
    await expectAccessible(page);
    await screenshotsOf(page, "members");

    await page.getByRole("combobox", { name: "Role of Kim Auditor" }).selectOption({ label: "Owner" });
    await page.getByRole("button", { name: "Make Kim Auditor owner" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const users = (await call(org.owner, "GET", `/api/orgs/${org.id}/users`)).json<{
      items: { email: string; role: string }[];
    }>();
    expect(users.items.find(({ email }) => email === "kim@example.org")?.role).toBe("owner");
    // A pending invitation does not count as a second owner.
    await page.getByRole("row", { name: /invited, has not accepted/ }).waitFor();
    await expect.poll(() => leave.getAttribute("aria-disabled")).toBe("true");
    await dashboard.signIn("kim@example.org");
    await page.reload();
    // With two owners, either may leave.
    await expect.poll(() => leave.getAttribute("aria-disabled")).toBeNull();

    await page.getByRole("button", { name: "Remove Kim Auditor" }).click();
    await page.getByText("signed out everywhere immediately").waitFor();
    await expectAccessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "Remove Kim Auditor" }).click();
    await page.getByRole("row", { name: /kim@example\.org/ }).waitFor({ state: "detached" });
  });

  test("inviting somebody who is already a member shows the service's error and keeps the form", async () => {
    const page = await dashboard.open(org.owner, "/members");
    await page.getByRole("button", { name: "Invite" }).click();
    await page.getByLabel("E-mail address").fill(org.owner.email);
    await page.getByRole("button", { name: "Send the invitation" }).click();
    await page.getByRole("alert").getByText("already has a member").waitFor();
    await expect.poll(() => page.getByLabel("E-mail address").inputValue()).toBe(org.owner.email);
  });

  test("a member of another organisation accepts an invitation in settings, switches organisations, and leaves one", async () => {
    const person = await dashboard.addPerson(org, "auditor");
    const second = await dashboard.addOrg("Second Harbour");
    const invited = await call(second.owner, "POST", `/api/orgs/${second.id}/users`, {
      email: person.email,
      role: "admin",
    });
    expect(invited.status).toBe(201);
    const page = await dashboard.open(person, "/settings");
    await page.getByText("You belong only to this organisation.").waitFor();
    await page.getByRole("button", { name: "Accept the invitation to Second Harbour" }).click();
    await page.getByRole("banner").getByRole("button", { name: "Organisation: " }).click();
    const others = page.getByRole("menu", { name: "Organisation" });
    await others.waitFor();
    await expectAccessible(page);
    await others.getByRole("menuitemradio", { name: "Second Harbour" }).click();
    await page.waitForURL(`${dashboard.server.url}/`);
    await page.getByRole("navigation").getByRole("link", { name: "Settings" }).click();
    await page.getByText(second.id, { exact: true }).waitFor();
    await page.getByRole("button", { name: "Leave the organisation" }).click();
    await expectAccessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "Leave Second Harbour" }).click();
    await heading(page, "Sign in");
    const left = (await call(second.owner, "GET", `/api/orgs/${second.id}/users`)).json<{
      items: unknown[];
    }>();
    expect(left.items).toHaveLength(1);
  });

  test("an auditor sees everything, and reads why they cannot change it", async () => {
    const auditor = await dashboard.addPerson(org, "auditor");
    const page = await dashboard.open(auditor, "/members");
    await heading(page, "Members");
    const invite = page.getByRole("button", { name: "Invite" });
    await expect.poll(() => invite.getAttribute("aria-description")).toContain("owners and admins");
    await expect.poll(() => page.getByRole("combobox").count()).toBe(0);
    await expectAccessible(page);
    await page.goto(`${dashboard.server.url}/auditor-links`);
    // The navigation does not offer it; typing the URL shows why.
    await page.getByRole("alert").getByText("does not allow this").first().waitFor();
    await expectAccessible(page);
  });
});

describe("settings", () => {
  test("an owner renames the organisation, and makes its log public after a confirmation", async () => {
    const page = await dashboard.open(org.owner, "/settings");
    await heading(page, "Settings");
    await expectAccessible(page);
    await screenshotsOf(page, "settings");
    await page.getByLabel("Name of the organisation").fill("Harbour Archive");
    await page.getByRole("button", { name: "Save the name" }).click();
    await page.getByRole("banner").getByText("Harbour Archive").waitFor();
    await page.getByRole("button", { name: "Make it public" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Make it public" }).click();
    await page.getByRole("button", { name: "Make it private" }).waitFor();
    const settings = await call(org.owner, "GET", `/api/orgs/${org.id}`);
    expect(settings.json()).toMatchObject({ name: "Harbour Archive", public_log: true });
  });

  test("signing out ends the session", async () => {
    const auditor = await dashboard.addPerson(org, "auditor");
    const page = await dashboard.open(auditor, "/settings");
    const save = page.getByRole("button", { name: "Save the name" });
    await expect.poll(() => save.getAttribute("aria-disabled")).toBe("true");
    const signOut = page.getByRole("main").getByRole("button", { name: "Sign out" });
    const logout = "**/api/auth/logout";
    await page.route(logout, (route) => route.abort());
    await signOut.click();
    const dialog = page.getByRole("dialog", { name: "You are still signed in" });
    await dialog.getByText("The service does not answer").waitFor();
    await expectAccessible(page);
    await page.unroute(logout);
    const after: string[] = [];
    page.on("request", (request) => after.push(new URL(request.url()).pathname));
    await dialog.getByRole("button", { name: "Try again" }).click();
    await heading(page, "Sign in");
    await page.waitForLoadState("networkidle");
    expect(after).toContain("/api/auth/logout");
    expect(after).not.toContain("/api/auth/me");
    expect((await call(auditor, "GET", "/api/auth/me")).status).toBe(401);
  });

  test("the sign-in page says that the browser has no network, and does not wait for ever", async () => {
    const page = await dashboard.open(null, "/login");
    await page.getByLabel("E-mail address").fill("ada@example.org");
    await page.context().setOffline(true);
    try {
      await page.getByRole("button", { name: "Send me a code" }).click();
      await page.getByText("The service does not answer. Check your network connection.").waitFor();
    } finally {
      await page.context().setOffline(false);
    }
    await page.getByRole("button", { name: "Send me a code" }).click();
    await page.getByLabel("Code").waitFor();
  });

  test("a bug of the page is not reported as a network problem", async () => {
    const page = await dashboard.open(null, "/login");
    await page.route("**/api/auth/passkey/options", (route) => route.fulfill({ json: {} }));
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.getByRole("alert").getByText("This is a bug in this page").waitFor();
    await expect.poll(() => page.getByText("The service does not answer").count()).toBe(0);
  });
});

describe("notifications", () => {
  test("a webhook's secret is shown once, and a member gets a test message by mail", async () => {
    const page = await dashboard.open(org.owner, "/notifications");
    await heading(page, "Notifications");
    await page.getByText("Nobody is notified yet").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Add a webhook" }).click();
    await page.getByLabel("Address").fill("https://hooks.example.org/attestore");
    await page.getByRole("radio", { name: "Only these:" }).check();
    await page.getByRole("checkbox", { name: "a new agent was attached" }).uncheck();
    await expectAccessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "Add" }).click();
    const secret = (await page.getByLabel("Secret", { exact: true }).textContent()) ?? "";
    expect(secret).toMatch(/^whsec_/);
    await page.getByRole("row", { name: /hooks\.example\.org.*17 kinds.*on/ }).waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "Change https://hooks.example.org/attestore" }).click();
    await page.getByRole("switch", { name: "Switched on" }).uncheck();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("row", { name: /hooks\.example\.org.*switched off/ }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("row", { name: /hooks\.example\.org.*on/ }).waitFor();
    await page.getByRole("status").getByText("Undone.").waitFor();

    await page.getByRole("button", { name: "Add a recipient" }).click();
    await page.getByRole("combobox", { name: "Member of the organisation" }).selectOption(org.owner.email);
    await page.getByRole("checkbox", { name: /weekly evidence on Mondays/ }).check();
    await page.getByRole("dialog").getByRole("button", { name: "Add" }).click();
    await page.getByRole("row", { name: /everything, and the weekly evidence/ }).waitFor();
    await page.getByRole("button", { name: `Send a test to ${org.owner.email}` }).click();
    await page.getByRole("row", { name: /a test.*delivered/ }).waitFor({ timeout: 60_000 });
    await page.getByRole("button", { name: "Details of: a test" }).click();
    await page.getByRole("heading", { name: "Message", level: 3 }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(secret);
    await expectAccessible(page);
    await screenshotsOf(page, "notifications");

    await page.getByRole("button", { name: "Remove https://hooks.example.org/attestore" }).click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /^Remove/ })
      .click();
    await page.getByRole("row", { name: /hooks\.example\.org/ }).waitFor({ state: "detached" });
  });
});

describe("evidence", () => {
  test("a period's evidence downloads as one file, for auditors too, and an invalid period shows an error", async () => {
    const auditor = await dashboard.addPerson(org, "auditor");
    const page = await dashboard.open(auditor, "/evidence");
    await heading(page, "Evidence");
    await expectAccessible(page);
    await screenshotsOf(page, "evidence");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download the evidence (ZIP)" }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^evidence-org_.*\.zip$/);
    expect(await download.failure()).toBeNull();
    await page.getByLabel("Up to and including").fill("2020-01-01");
    await page.getByRole("alert").getByText("Choose a valid period").waitFor();
    await expectAccessible(page);
  });
});

describe("operators", () => {
  test("an operator creates an organisation and acts as a member with a reason; a banner stays until they end it", async () => {
    const operator = await dashboard.addPerson(null, "operator");
    const page = await dashboard.open(operator);
    await heading(page, "Organisations");
    await page.getByRole("button", { name: "Create an organisation" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("Quay Logistics");
    await page.getByLabel(/E-mail address of its owner/).fill("quay@example.org");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("link", { name: "Quay Logistics" }).waitFor();
    await expectAccessible(page);
    await screenshotsOf(page, "operator");
    const bar = page.getByRole("navigation", { name: "Main pages" });
    await page.setViewportSize(NARROW);
    await bar.getByRole("link", { name: "Attach an agent" }).waitFor();
    const words = await bar.getByRole("link").allTextContents();
    expect(words).toEqual(["Organisations", "Attach", "Passkeys"]);
    await page.setViewportSize(WIDE);

    await page.getByRole("link", { name: "Quay Logistics" }).click();
    await heading(page, "Quay Logistics");
    await page.getByRole("button", { name: "Act as quay@example.org" }).click();
    await page.getByLabel("Reason").fill("ticket 4711: nothing is proven");
    await expectAccessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "Act as quay@example.org" }).click();

    const banner = page.getByRole("region", { name: "Impersonation" });
    await banner.getByText("You are acting as quay@example.org, read-only.").waitFor();
    await banner.getByText(`signed in as ${operator.email}`).waitFor();
    for (const name of ["Agents", "Members", "Settings"]) {
      await page.getByRole("navigation").getByRole("link", { name }).click();
      await heading(page, name);
      await expect.poll(() => banner.isVisible()).toBe(true);
    }
    await page.mouse.wheel(0, 5000);
    await expect.poll(() => banner.isVisible()).toBe(true);
    await page.reload();
    await banner.waitFor();
    await expectAccessible(page);
    await screenshotsOf(page, "impersonating");

    await banner.getByRole("button", { name: "End impersonation" }).click();
    await heading(page, "Organisations");
    await expect.poll(() => banner.count()).toBe(0);
  });

  test("an operator sees an organisation's pages only when acting as a member", async () => {
    const operator = await dashboard.addPerson(null, "operator");
    const page = await dashboard.open(operator);
    await heading(page, "Organisations");
    const links = await page.getByRole("navigation").getByRole("link").allTextContents();
    expect(links).toEqual(["Organisations", "Attach an agent", "Passkeys"]);
  });
});

describe("an auditor link", () => {
  test("opens without an account, shows its period read-only, and stops working once it is revoked", async () => {
    await attach(org, { name: "archive-1" });
    const page = await dashboard.open(org.owner, "/auditor-links");
    await heading(page, "Auditor access");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Make a link" }).click();
    await page.getByLabel("Who or what it is for").fill("SOC 2 audit 2026");
    await page.getByLabel("Records up to and including").fill("2020-01-01");
    await page.getByRole("alert").getByText("The last day is before the first day.").waitFor();
    await page.getByLabel("Records up to and including").fill(new Date().toISOString().slice(0, 10));
    await expectAccessible(page);
    await page.getByRole("button", { name: "Make the link" }).click();
    const url = (await page.getByLabel("The link", { exact: true }).textContent()) ?? "";
    expect(url).toMatch(new RegExp(`^${dashboard.server.url}/shared#atl_[A-Za-z0-9_-]{43}$`));
    await page.getByRole("row", { name: /SOC 2 audit 2026/ }).waitFor();
    await expectAccessible(page);
    await screenshotsOf(page, "auditor-links");

    const reader = await dashboard.open(null, url.slice(dashboard.server.url.length));
    await heading(reader, "An auditor link");
    // The secret leaves the URL at once, and nothing is opened yet.
    expect(reader.url()).toBe(`${dashboard.server.url}/shared`);
    await expectAccessible(reader);
    await screenshotsOf(reader, "shared");
    await reader.getByRole("button", { name: "Open" }).click();
    const banner = reader.getByRole("region", { name: "Auditor link" });
    await banner.getByText("SOC 2 audit 2026").waitFor();
    await reader.getByRole("navigation").getByRole("link", { name: "Agents" }).click();
    await reader.getByRole("link", { name: "archive-1" }).click();
    await heading(reader, "archive-1");
    await expect.poll(() => reader.getByRole("button", { name: /Revoke|Rename/ }).count()).toBe(0);
    await expectAccessible(reader);
    const links = await reader.getByRole("navigation").getByRole("link").allTextContents();
    for (const hidden of ["Members", "Auth keys", "Settings", "Auditor access"])
      expect(links).not.toContain(hidden);

    await page.reload();
    await page.getByText("1 time, last").waitFor();
    await page.getByRole("button", { name: "Revoke SOC 2 audit 2026" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke SOC 2 audit 2026" }).click();
    await page.getByRole("cell", { name: "revoked", exact: true }).waitFor();
    // A reader who is still on a page is sent away at the next step, and keeps no data.
    await reader.getByRole("navigation").getByRole("link", { name: "Agents" }).click();
    await heading(reader, "Sign in");
    expect(await reader.content()).not.toContain("archive-1");
    await reader.goto(url);
    await reader.getByRole("button", { name: "Open" }).click();
    await reader.getByRole("alert").getByText("This link does not work").waitFor();
    await expectAccessible(reader);
  });
});

/** Passkeys and recovery codes in the browser, with the browser's own virtual authenticator. */
import type { CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Dashboard,
  type DashboardOrg,
  expectAccessible,
  openDashboard,
  screenshotsOf,
} from "./open-dashboard.ts";
import { neverReuse } from "./reused-pages.ts";

let dashboard: Dashboard;
let org: DashboardOrg;
beforeAll(async () => {
  dashboard = await openDashboard();
  org = await dashboard.addOrg("Harbour Records");
});
afterAll(() => dashboard.close());

/** Pages load slowly beside other tests. What the page shows instead says why it failed. */
async function heading(page: Page, name: string): Promise<void> {
  try {
    await page.getByRole("heading", { name, level: 1 }).waitFor({ timeout: 60_000 });
  } catch (cause) {
    throw new Error(`${page.url()} shows:\n${await page.locator("body").innerText()}`, { cause });
  }
}
const link = (page: Page, name: string) => page.getByRole("navigation").getByRole("link", { name });

/** A platform authenticator whose owner always confirms, for as long as the page is open. */
async function withAuthenticator(page: Page): Promise<{ cdp: CDPSession; authenticatorId: string }> {
  neverReuse(page);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { cdp, authenticatorId };
}

/** The browser refuses it to a page that is not in front. */
async function askForPasskey(page: Page): Promise<void> {
  await page.bringToFront();
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
}

async function addPasskey(page: Page, name: string): Promise<void> {
  await page.getByLabel("Name of the passkey").fill(name);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("row", { name: new RegExp(name) }).waitFor();
}

async function openAccount(page: Page): Promise<void> {
  await page.getByRole("banner").getByRole("button", { name: "Account of " }).click();
  await page.getByRole("menu", { name: "Account" }).waitFor();
}

async function signOut(page: Page): Promise<void> {
  await openAccount(page);
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await heading(page, "Sign in");
}

/** Requests a code from the page, and types the one that is mailed. */
async function typeMailedCode(page: Page, email: string): Promise<void> {
  const before = await dashboard.codeFor(email);
  await page.getByLabel("E-mail address").fill(email);
  await page.getByRole("button", { name: "Send me a code" }).click();
  await page.getByRole("textbox", { name: "Code", exact: true }).waitFor();
  await expect.poll(() => dashboard.codeFor(email)).not.toBe(before);
  await page.getByRole("textbox", { name: "Code", exact: true }).fill(await dashboard.codeFor(email));
}

describe("a member", () => {
  test("adds a passkey, signs in with it, uses a recovery code once it is lost, and removes it", async () => {
    const person = await dashboard.addPerson(org, "admin");
    const page = await dashboard.open(person);
    const { cdp, authenticatorId } = await withAuthenticator(page);
    await openAccount(page);
    await expectAccessible(page);
    await page.getByRole("menuitem", { name: "Passkeys" }).click();
    await heading(page, "Passkeys");
    await page.getByText("You have no passkey.").waitFor();
    await expectAccessible(page);
    await addPasskey(page, "Laptop");
    const shown = page.getByLabel("The codes", { exact: true });
    await expect.poll(() => shown.evaluate((element) => element === document.activeElement)).toBe(true);
    const codes = ((await shown.textContent()) ?? "").split("\n");
    expect(codes).toHaveLength(10);
    await expectAccessible(page);
    await screenshotsOf(page, "passkeys-first");
    const downloading = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download the codes" }).click();
    expect((await downloading).suggestedFilename()).toBe("attestore-recovery-codes.txt");
    await page.getByRole("button", { name: "I have saved them" }).click();
    await shown.waitFor({ state: "detached" });
    await expect
      .poll(() => dashboard.server.talk())
      .toContain("A passkey was added to your Attestore account");

    await signOut(page);
    await expectAccessible(page);
    await screenshotsOf(page, "login");
    await askForPasskey(page);
    await heading(page, "Nothing is proven yet.");
    await page.getByRole("button", { name: `Account of ${person.email}` }).waitFor();

    // The authenticator is lost, and the mailed code alone no longer suffices.
    await signOut(page);
    await cdp.send("WebAuthn.clearCredentials", { authenticatorId });
    await typeMailedCode(page, person.email);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByLabel("Recovery code").fill("AAAA-BBBB-CCCC-DDDD");
    await expectAccessible(page);
    await screenshotsOf(page, "login-recovery");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("alert").getByText("This recovery code is not valid").waitFor();
    await page.getByLabel("Recovery code").fill(codes[4] ?? "");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await heading(page, "Nothing is proven yet.");

    await openAccount(page);
    await page.getByRole("menuitem", { name: "Passkeys" }).click();
    await page.getByText("9 codes are left").waitFor();
    await page.getByRole("button", { name: "Rename Laptop" }).click();
    await page.getByRole("dialog").getByLabel("Name of the passkey").fill("Lost laptop");
    await page.getByRole("button", { name: "Save the name" }).click();
    await page.getByRole("row", { name: /Lost laptop/ }).waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await addPasskey(page, "Key ring");
    await screenshotsOf(page, "passkeys");
    await page.getByRole("button", { name: "Make new recovery codes" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Make new recovery codes" }).click();
    await expect.poll(async () => (await shown.textContent())?.includes(codes[0] ?? "")).toBe(false);
    await page.getByRole("button", { name: "Remove Lost laptop" }).click();
    await page.getByText("Your other sessions end.").waitFor();
    await expectAccessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "Remove Lost laptop" }).click();
    await page.getByRole("row", { name: /Lost laptop/ }).waitFor({ state: "detached" });
    // The page stays, because the new codes still have to be read.
    await page.getByRole("row", { name: /Key ring/ }).waitFor();
    await shown.waitFor();
    await page.getByRole("button", { name: "Remove Key ring" }).click();
    await page.getByText("anybody who can read your mail can sign in as you").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Remove Key ring" }).click();
    await page.getByText("You have no passkey.").waitFor();
    await signOut(page);
    // It is still in the authenticator, but no longer signs in.
    await askForPasskey(page);
    await page.getByRole("alert").getByText("This passkey was not accepted").waitFor();
  });

  test("reads a message after cancelling the browser's prompt, and can try again", async () => {
    const page = await dashboard.open(await dashboard.addPerson(org, "auditor"), "/passkeys");
    const { cdp, authenticatorId } = await withAuthenticator(page);
    await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
    await page.getByLabel("Name of the passkey").fill("Laptop");
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByRole("alert").getByText("Your browser did not use a passkey").waitFor();
    await expectAccessible(page);
    await cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: true });
    await addPasskey(page, "Laptop");
  });
});

describe("an operator", () => {
  test("can open only the passkeys page until they have a passkey", async () => {
    const email = "new-operator@example.org";
    await dashboard.server.cliJson("operator", "add", email);
    const token = await dashboard.signIn(email);
    const page = await dashboard.open({ id: "", email, role: "operator", token }, "/operator");
    await withAuthenticator(page);
    await heading(page, "Passkeys");
    await page.getByText("Operators need a passkey").waitFor();
    await link(page, "Organisations").click();
    await heading(page, "Passkeys");
    await expectAccessible(page);
    await screenshotsOf(page, "passkeys-operator");
    await addPasskey(page, "Operator's laptop");
    await page.getByRole("button", { name: "I have saved them" }).click();
    await page.getByText("Operators need a passkey").waitFor({ state: "detached" });
    const remove = page.getByRole("button", { name: "Remove Operator's laptop" });
    await expect.poll(() => remove.getAttribute("aria-disabled")).toBe("true");
    await link(page, "Organisations").click();
    await heading(page, "Organisations");
    await signOut(page);
    await askForPasskey(page);
    await heading(page, "Organisations");
  });
});

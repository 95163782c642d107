/**
 * In the browser: from sign-up to a proven backup with the real agent, and reviewing waiting hosts.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Host, newHost } from "../harness/host.ts";
import { run, type Running } from "../harness/programs.ts";
import { until } from "../harness/wait.ts";
import {
  type Dashboard,
  type DashboardOrg,
  expectAccessible,
  openDashboard,
  screenshotsOf,
} from "./open-dashboard.ts";

let dashboard: Dashboard;
let data: string;
const hosts: Host[] = [];
beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), "attestore-e2e-data-"));
  dashboard = await openDashboard({
    ATTESTORE_HEARTBEAT_INTERVAL_S: "1",
    // As on a checkout where nobody ran `npm run package`.
    ATTESTORE_DOWNLOADS: join(data, "no-packages"),
  });
  const ledger = new DatabaseSync(join(data, "ledger.db"));
  ledger.exec("create table entries (id integer primary key, cents integer not null)");
  ledger.exec("insert into entries (cents) values (100), (250), (4711)");
  ledger.close();
});
afterAll(async () => {
  for (const host of hosts) host.remove();
  rmSync(data, { recursive: true, force: true });
  await dashboard.close();
});

function host(): Host {
  const made = newHost();
  hosts.push(made);
  return made;
}

const heading = (page: Page, name: string) => page.getByRole("heading", { name, level: 1 }).waitFor();

/** The words after the program's name in a command that the page shows for a new host. */
async function shownCommand(page: Page, label: string): Promise<string[]> {
  const shown = page.getByLabel(label);
  await shown.getByText("--ca-sha256").waitFor();
  const [npx, program, ...words] = ((await shown.textContent()) ?? "").split(" ");
  expect([npx, program]).toEqual(["npx", "attestore"]);
  return words;
}

/** Runs `attestore init` without a key until it prints its code. */
async function knock(
  at: Host,
  name: string,
  command: readonly string[] = [
    "init",
    "--service",
    dashboard.server.url,
    "--ca-file",
    dashboard.server.caFile,
  ],
): Promise<{ machine: Running; code: string; fingerprint: string }> {
  const machine = at.start(...command, "--name", name);
  const [, code = "", fingerprint = ""] = await until("the host prints a code and its fingerprint", () =>
    /code {2}(\S{4}-\S{4})[^]*(SHA256:\S{43})/.exec(machine.talk()),
  );
  return { machine, code, fingerprint };
}

test("a new user signs up, attaches an agent with one command, makes a backup, tests it, and verifies its receipt", async () => {
  const page = await dashboard.open(null, "/signup");
  await page.getByLabel("E-mail address").fill("ada@example.org");
  await page.getByLabel("Name of your organisation").fill("Ledger Works");
  await page.getByRole("button", { name: "Send me a code" }).click();
  await page.getByLabel("Code").fill(await dashboard.codeFor("ada@example.org"));
  await page.getByRole("button", { name: "Create the organisation" }).click();
  await page.getByRole("banner").getByText("Ledger Works").waitFor();

  await page.getByRole("navigation").getByRole("link", { name: "Agents" }).click();
  await page.getByText("No agent is attached yet").waitFor();
  await expectAccessible(page);
  await page.getByRole("main").getByRole("link", { name: "Attach an agent" }).first().click();
  await heading(page, "Attach an agent");
  await expectAccessible(page);
  await page.getByText("Options: name, how long it works").click();
  await page.getByLabel("What the key is for (optional)").fill("ledger host");
  await page.getByRole("button", { name: "Make an auth key" }).click();
  await page.getByText("The key is shown only once").waitFor();
  const authKey = (await page.getByLabel("Auth key", { exact: true }).textContent()) ?? "";
  expect(authKey).toMatch(/^atk_[0-9a-z]{10}_\S{32}$/);
  await page.getByText("This attaches the machine on which the service runs").waitFor();
  const command = await shownCommand(page, "Command that attaches the host");
  expect(command.join(" ")).not.toContain(authKey);
  await page.getByText("Waiting for an agent to attach").waitFor();
  const allow = page.getByRole("checkbox", { name: "Let owners and admins add sources" });
  expect([await allow.isChecked(), command.join(" ")]).toEqual([
    false,
    expect.not.stringContaining("--allow-remote-config"),
  ]);
  await allow.check();
  expect((await shownCommand(page, "Command that attaches the host")).at(-1)).toBe("--allow-remote-config");
  await expectAccessible(page);
  await screenshotsOf(page, "attach-key");
  await allow.uncheck();

  const ledger = host();
  const init = await run(
    "attestore",
    [...command, "--name", "ledger-1"],
    { ...ledger.env, ATTESTORE_AUTH_KEY: authKey },
    ledger.base,
  );
  expect(init.code, init.stderr).toBe(0);
  await page.getByText("ledger-1 is attached.").waitFor();
  await page.getByRole("link", { name: "Open ledger-1" }).waitFor();
  for (const [label, words] of [
    ["Command that adds a source", "npx attestore source add"],
    ["Command that starts the agent", "npx attestore run"],
  ] as const)
    await expect.poll(() => page.getByLabel(label).textContent()).toBe(words);
  await expectAccessible(page);
  await screenshotsOf(page, "attach");
  const first = ledger.start("run");
  await page.getByText("Its agent is running.").waitFor();
  expect(await page.getByLabel("Command that starts the agent").count()).toBe(0);
  await expectAccessible(page);
  await screenshotsOf(page, "attach-running");
  first.child.kill("SIGTERM");
  await first.finished;

  // Shown once: it is gone after a reload.
  await page.reload();
  await heading(page, "Attach an agent");
  expect(await page.content()).not.toContain(authKey);

  ledger.addSources(`  ledger:
    engine: sqlite
    path: ${join(data, "ledger.db")}
    checks:
      - { id: has-entries, query: "select count(*) as n from entries", expect: "n >= 3" }
`);
  for (const command of [
    ["backup", "--source", "ledger"],
    ["restore-test", "--source", "ledger"],
    ["keys", "recovery-kit", "--output", "kit.txt"],
  ]) {
    const done = await ledger.run(...command);
    expect(done.code, done.stdout + done.stderr).toBe(0);
  }
  await page.getByRole("navigation").getByRole("link", { name: "Receipts" }).click();
  await page.getByRole("link", { name: "Restore test passed" }).waitFor();
  await page.getByRole("link", { name: "Backup made" }).waitFor();
  await page.getByRole("link", { name: "Restore test passed" }).click();
  await page.getByRole("button", { name: "Verify here" }).click();
  await page
    .locator('[data-verdict="cannot_tell"]')
    .getByText("only with keys that this service itself gave")
    .waitFor();

  for (const command of [
    ["keys", "rotate", "signing", "--yes"],
    ["restore-test", "--source", "ledger"],
  ]) {
    const done = await ledger.run(...command);
    expect(done.code, done.stdout + done.stderr).toBe(0);
  }
  await page.getByRole("navigation").getByRole("link", { name: "Evidence" }).click();
  const [pack] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download the evidence (ZIP)" }).click(),
  ]);
  const saved = join(data, pack.suggestedFilename());
  await pack.saveAs(saved);
  const logKey = ["--log-key", join(ledger.root, "keys/log.vkey")];
  const checked = await run("attestore-verify", [
    saved,
    ...logKey,
    "--key",
    join(ledger.root, "keys/agent.pub"),
  ]);
  expect([checked.code, checked.stdout.slice(0, 4)], checked.stdout + checked.stderr).toEqual([0, "TRUE"]);
  expect(checked.stdout).toContain("2 keys");
  const running = ledger.start("run");
  try {
    await page.getByRole("navigation").getByRole("link", { name: "Agents" }).click();
    await page
      .getByRole("row", { name: /ledger-1.*active.*nothing.*never tested/ })
      .waitFor({ timeout: 60_000 });
    await expectAccessible(page);
    await screenshotsOf(page, "agents");
    await page.getByRole("link", { name: "ledger-1" }).click();
    await heading(page, "ledger-1");
    await page.getByText("nobody knows whether it works").waitFor();
    await page.getByRole("row", { name: /ledger.*SQLite/ }).waitFor();
    const earlier = page.getByRole("table", { name: "Earlier signing keys" });
    await expect.poll(() => earlier.getByRole("row").count()).toBe(2);
    const doctor = await ledger.run("doctor");
    const keys = (await page.getByText(/^SHA256:/).allTextContents()) as [string, string];
    expect(doctor.stdout + doctor.stderr).toContain(keys[0]);
    expect(init.stdout + init.stderr).toContain(keys[1]);
    await expectAccessible(page);
    await screenshotsOf(page, "agent");

    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByLabel("Name of the agent").fill("ledger-1 (Rotterdam)");
    await page.getByRole("button", { name: "Save" }).click();
    await heading(page, "ledger-1 (Rotterdam)");

    await page.getByRole("button", { name: "Revoke" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/No longer backed up.*ledger/).waitFor();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Revoke ledger-1 (Rotterdam)" }).click();
    await page.getByText("revoked", { exact: true }).first().waitFor();
    await until("the agent is told", () => running.talk().includes("revoked"));
  } finally {
    running.child.kill("SIGTERM");
    await running.finished;
  }
});

test("a new user gets from sign-up to the first proof in under two minutes, by following the home page's next steps", async () => {
  const began = performance.now();
  const page = await dashboard.open(null, "/signup");
  await page.getByLabel("E-mail address").fill("grace@example.org");
  await page.getByLabel("Name of your organisation").fill("Harbour Ledger");
  await page.getByRole("button", { name: "Send me a code" }).click();
  await page.getByLabel("Code").fill(await dashboard.codeFor("grace@example.org"));
  await page.getByRole("button", { name: "Create the organisation" }).click();

  const step = page.locator('[aria-current="step"]');
  await step.getByRole("link", { name: "Attach an agent" }).click();
  await page.getByRole("button", { name: "Make an auth key" }).click();
  const authKey = (await page.getByLabel("Auth key", { exact: true }).textContent()) ?? "";
  const command = await shownCommand(page, "Command that attaches the host");
  const ledger = host();
  const env = { ...ledger.env, ATTESTORE_AUTH_KEY: authKey };
  const init = await run("attestore", [...command, "--name", "harbour-1"], env, ledger.base);
  expect(init.code, init.stderr).toBe(0);
  await page.getByRole("link", { name: "Open harbour-1" }).waitFor();

  await page.getByRole("navigation").first().getByRole("link", { name: "Home" }).click();
  await step.getByRole("link", { name: "Add a source" }).waitFor();
  const path = join(data, "ledger.db");
  const added = await ledger.run("source", "add", "ledger", "--engine", "sqlite", "--path", path, "--yes");
  expect(added.code, added.stdout + added.stderr).toBe(0);
  // The running agent tells the service of the source.
  const running = ledger.start("run");
  try {
    await step.getByRole("button", { name: "Back up now: ledger" }).click();
    await step.getByRole("button", { name: "Test a restore now: ledger" }).click();
    await page.getByRole("heading", { name: "Your first proof", exact: true }).waitFor();
    await page.getByRole("heading", { name: "Your source is proven.", level: 1 }).waitFor();
    expect(performance.now() - began).toBeLessThan(120_000);
    const receipt = page.getByRole("link", { name: "See the receipt" });
    await expect.poll(() => receipt.getAttribute("href")).toMatch(/^\/receipts\/rcpt_/);
    await receipt.click();
    await page.getByRole("heading", { name: "Restore test passed", level: 1 }).waitFor();
    await page.getByText("Signature valid").waitFor();
  } finally {
    running.child.kill("SIGTERM");
    await running.finished;
  }
});

test("the page says how far the packages for other hosts are, why there are none, and for which processors they are", async () => {
  const org = await dashboard.addOrg("Packet Boats");
  const downloads = join(data, "no-packages");
  const tell = (state: object) => {
    mkdirSync(downloads, { recursive: true });
    writeFileSync(join(downloads, "build.json"), JSON.stringify({ at: new Date().toISOString(), ...state }));
  };
  try {
    tell({ state: "building", step: 2, steps: 4 });
    const page = await dashboard.open(org.owner, "/attach");
    await page.getByText("Packages for other hosts are being built: 2 of 4").waitFor();
    expect(await page.getByLabel("Building packages for other hosts").getAttribute("aria-valuenow")).toBe(
      "25",
    );
    await expectAccessible(page);
    await page.getByRole("button", { name: "Make an auth key" }).click();
    await page.getByText("This attaches the machine on which the service runs").waitFor();
    await expectAccessible(page);
    await screenshotsOf(page, "attach-building");

    // The page follows the build without a reload.
    tell({ state: "failed" });
    await page.getByText("their packages could not be built").waitFor();
    writeFileSync(join(downloads, "SHA256SUMS"), `${"0".repeat(64)}  attestore-linux-amd64\n`);
    writeFileSync(join(downloads, "SHA256SUMS.minisig"), "");
    await page.reload();
    await page.getByText("For arm64, run npm run package -- --arch amd64,arm64").waitFor();
    // A command with this address does nothing on the hosts that it is meant for.
    await page.getByText("Only the machine of the service knows it as localhost").waitFor();
    await page.getByRole("button", { name: "Make an auth key" }).click();
    await page.getByLabel("Command that attaches the host").getByText("install.sh").waitFor();

    rmSync(join(downloads, "SHA256SUMS.minisig"));
    tell({ state: "building", step: 2, steps: 4, at: new Date(Date.now() - 3_600_000).toISOString() });
    await page.reload();
    await page.getByText("Other hosts cannot be attached yet: run npm run package").waitFor();
  } finally {
    rmSync(downloads, { recursive: true, force: true });
  }
});

test("an owner approves a waiting host by its fingerprint, and denies another", async () => {
  const org: DashboardOrg = await dashboard.addOrg("Night Watch");
  const page = await dashboard.open(org.owner, "/attach");
  await page.getByText("With a code", { exact: true }).click();
  await page.getByText("Other hosts cannot be attached yet").waitFor();
  const friend = await knock(host(), "archive-2", await shownCommand(page, "On the host"));

  await page.getByLabel("Code that the host shows").fill("ABCD-EFGH");
  await page.getByRole("button", { name: "Look it up" }).click();
  await page.getByRole("alert").getByText("No host is waiting with this code").waitFor();
  await expectAccessible(page);
  // Typed as people type it.
  await page.getByLabel("Code that the host shows").fill(friend.code.toLowerCase().replace("-", ""));
  await page.getByRole("button", { name: "Look it up" }).click();
  await page.getByText(friend.fingerprint).waitFor();
  const approve = page.getByRole("button", { name: "Approve" });
  await expect.poll(() => approve.getAttribute("aria-description")).toContain("Compare the fingerprint");
  await expectAccessible(page);
  await screenshotsOf(page, "attach-review");
  await page.getByLabel("The host shows exactly this fingerprint").check();
  await approve.click();
  await page.getByText("archive-2 is attached.").waitFor();
  expect((await friend.machine.finished).code).toBe(0);
  await expectAccessible(page);

  // The URL that the host prints opens the review directly.
  const stranger = await knock(host(), "who-knows");
  await page.goto(`${dashboard.server.url}/attach?code=${stranger.code}`);
  await page.getByText(stranger.fingerprint).waitFor();
  await page.getByRole("button", { name: "Deny" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Deny who-knows" }).click();
  await page.getByText("who-knows was denied.").waitFor();
  expect((await stranger.machine.finished).code).not.toBe(0);

  const auditor = await dashboard.addPerson(org, "auditor");
  const third = await knock(host(), "archive-3");
  const looksOn = await dashboard.open(auditor, `/attach?code=${third.code}`);
  await looksOn.getByText(third.fingerprint).waitFor();
  for (const name of ["Approve", "Deny"])
    await expect.poll(() => looksOn.getByRole("button", { name }).getAttribute("aria-disabled")).toBe("true");
  await expectAccessible(looksOn);
  third.machine.child.kill("SIGINT");
  await third.machine.finished;
});

test("auth keys are listed without their secrets, and are revoked after a confirmation", async () => {
  const org = await dashboard.addOrg("Key Keepers");
  const page = await dashboard.open(org.owner, "/auth-keys");
  await heading(page, "Auth keys");
  await page.getByRole("row", { name: /unnamed.*0, no limit.*console/ }).waitFor();
  expect(await page.content()).not.toContain(org.authKey);
  await expectAccessible(page);
  await screenshotsOf(page, "auth-keys");
  await page.getByRole("button", { name: "Revoke unnamed" }).click();
  await page.getByRole("dialog").getByText("Agents that attached with it stay").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke unnamed" }).click();
  await page.getByText("There are no working keys.").waitFor();
  await expectAccessible(page);
});

test("when the service does not answer, the page says so and retries on request", async () => {
  const org = await dashboard.addOrg("Offline Test");
  const page = await dashboard.open(org.owner, "/members");
  await heading(page, "Members");
  await page.route("**/api/orgs/*/agents**", (route) => route.abort());
  await page.route("**/api/orgs/*/incidents**", (route) => route.abort());
  await page.getByRole("navigation").getByRole("link", { name: "Agents" }).click();
  await page.getByRole("alert").getByText("The service does not answer").waitFor();
  await page.unroute("**/api/orgs/*/agents**");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("No agent is attached yet").waitFor();
});

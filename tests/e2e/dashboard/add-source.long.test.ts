/**
 * In the browser, with the real service, a real agent and a real PostgreSQL: a source is added, a
 * check is built, and what keeps a host from either.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DatabaseServer, startDatabaseServer } from "../harness/database.ts";
import { attachedHost, type Host } from "../harness/host.ts";
import { attach } from "../harness/organisation.ts";
import type { Running } from "../harness/programs.ts";
import { until } from "../harness/wait.ts";
import {
  type Dashboard,
  type DashboardOrg,
  expectAccessible,
  openDashboard,
  screenshotsOf,
} from "./open-dashboard.ts";

let dashboard: Dashboard;
let server: DatabaseServer;
let org: DashboardOrg;
let host: Host;
let agent: Running;

beforeAll(async () => {
  [dashboard, server] = await Promise.all([
    openDashboard({ ATTESTORE_HEARTBEAT_INTERVAL_S: "1" }),
    startDatabaseServer(),
  ]);
  server.sql("postgres", "create database orders; create database archive");
  server.sql(
    "orders",
    `create table orders (id int primary key, placed_at timestamptz not null);
     insert into orders select n, now() - n * interval '3 hours' from generate_series(1, 500) n`,
  );
  org = await dashboard.addOrg("Orders & Sons");
  host = await attachedHost(org);
  writeFileSync(join(host.root, "keys", "archive.url"), server.url("archive"), { mode: 0o600 });
  host.addSources("  archive: { engine: postgresql, connection: file:keys/archive.url } # by Jo\n");
  agent = host.start("run");
});
afterAll(async () => {
  agent.child.kill("SIGTERM");
  await agent.finished;
  host.remove();
  await server.stop();
  await dashboard.close();
});

const config = (): string => readFileSync(join(host.root, "config.yaml"), "utf8");
const hostField = (page: Page) => page.getByRole("combobox", { name: "Host" });
const heading = (page: Page, name: string) => page.getByRole("heading", { name, level: 1 }).waitFor();

async function chooseEngine(page: Page, name: string): Promise<void> {
  await page.getByRole("radio", { name, exact: true }).check();
}

test("the page shows which command lets the dashboard add sources, and continues once it ran on the host", async () => {
  const page = await dashboard.open(org.owner, "/sources");
  await page.getByRole("link", { name: "Add a source" }).click();
  await heading(page, "Add a source");
  await chooseEngine(page, "MongoDB");
  await expect
    .poll(() => page.getByLabel("Command that adds this source on the host").textContent())
    .toContain("source add --engine mongodb");
  await chooseEngine(page, "PostgreSQL");
  await hostField(page).selectOption({ index: 1 });
  await page.getByText("does not allow this").waitFor();
  const command = await page.getByLabel("Command that lets the dashboard add sources").textContent();
  const [, program, ...words] = (command ?? "").split(" ");
  expect(program).toBe("attestore");
  expect(await page.getByRole("button", { name: "Find databases" }).count()).toBe(0);
  await expectAccessible(page);
  await screenshotsOf(page, "add-source-off");

  const allowed = await host.run(...words);
  expect(allowed.code, allowed.stderr).toBe(0);
  await page.getByRole("button", { name: "Find databases" }).waitFor();
});

test("an owner adds a database by keyboard: it is found, its connection tested, checks proposed, a schedule set", async () => {
  const page = await dashboard.open(org.owner, "/sources/add");
  await heading(page, "Add a source");
  await page.getByRole("radio", { name: "PostgreSQL" }).focus();
  await page.keyboard.press("Space");
  await hostField(page).focus();
  await page.keyboard.press("ArrowDown");
  await page.getByRole("button", { name: "Find databases" }).focus();
  await page.keyboard.press("Enter");
  const orders = page.getByRole("radio", { name: "orders" });
  await orders.waitFor();
  await page.getByText("backed up as archive").waitFor();
  await orders.focus();
  await page.keyboard.press("Space");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Test the connection" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("The agent can read it: PostgreSQL 15").waitFor();
  await page.getByRole("checkbox", { name: /^fresh-orders/ }).waitFor();
  await page.getByRole("checkbox", { name: /^has-orders/ }).uncheck();
  await page.getByRole("textbox", { name: "Name" }).fill("Not a name");
  await page.getByText("beginning with a letter or digit").waitFor();
  await expectAccessible(page);
  await screenshotsOf(page, "add-source");
  await page.getByRole("textbox", { name: "Name" }).fill("orders");
  await page.getByRole("button", { name: "Add the source" }).click();
  await heading(page, "orders");
  await page.getByText("orders was added.").waitFor();
  expect(config()).toContain("# by Jo");
  expect(config()).toMatch(
    /orders:\n\s+engine: postgresql\n\s+connection: file:keys\/orders.url\n\s+checks:/,
  );
  expect(config()).not.toContain("- id: has-orders");
  await page.getByRole("tab", { name: "Settings" }).click();
  await page.getByText("0 2 * * *").or(page.getByText("02:00")).first().waitFor();

  await page.goto(`${dashboard.server.url}/events`);
  await page.getByRole("link", { name: "Source or check added from the dashboard" }).waitFor();
});

test("an owner adds a SQLite database and a directory, below a directory that the host named", async () => {
  const data = join(host.base, "data");
  mkdirSync(join(data, "uploads"), { recursive: true });
  writeFileSync(join(data, "uploads", "a.txt"), "a");
  const ledger = new DatabaseSync(join(data, "ledger.db"));
  ledger.exec("create table entries (id integer primary key); insert into entries values (1), (2), (3)");
  ledger.close();
  const page = await dashboard.open(org.owner, "/sources/add");
  await chooseEngine(page, "SQLite");
  await hostField(page).selectOption({ index: 1 });
  await page.getByRole("button", { name: "Look into the directories" }).click();
  const shown = page.getByLabel("Command that allows a directory");
  const [, , ...words] = ((await shown.textContent()) ?? "").replace("/srv/data", data).split(" ");
  await expectAccessible(page);
  await screenshotsOf(page, "add-source-no-directory");
  const allowed = await host.run(...words);
  expect(allowed.code, allowed.stderr).toBe(0);

  for (const [engine, choice, name] of [
    ["SQLite", "ledger.db", "ledger"],
    ["Files", "uploads", "uploads"],
  ] as const) {
    await page.goto(`${dashboard.server.url}/sources/add`);
    await chooseEngine(page, engine);
    await hostField(page).selectOption({ index: 1 });
    await page.getByRole("button", { name: "Look into the directories" }).click();
    await page.getByRole("radio", { name: choice, exact: true }).check();
    await page.getByRole("button", { name: "Test the connection" }).click();
    await page.getByText("The agent can read it").waitFor();
    expect(await page.getByRole("textbox", { name: "Name" }).inputValue()).toBe(name);
    await expectAccessible(page);
    if (engine === "SQLite") await screenshotsOf(page, "add-source-sqlite");
    await page.getByRole("button", { name: "Add the source" }).click();
    await heading(page, name);
    expect(config()).toContain(`path: ${join(data, choice)}`);
  }
});

test("an owner builds a check from the source's own names, tries it on a restored backup, and adds it", async () => {
  const backup = await host.run("backup", "--source", "orders");
  expect(backup.code, backup.stderr).toBe(0);
  const tested = await host.run("restore-test", "--source", "orders");
  expect(tested.code, tested.stderr).toBe(0);
  const page = await dashboard.open(org.owner, "/sources");
  await page.getByRole("link", { name: "orders", exact: true }).click();
  await page.getByRole("tab", { name: "Restore tests" }).click();
  await page.getByRole("link", { name: "New check" }).click();
  await heading(page, "New check of orders");
  await page.getByRole("button", { name: "List tables and columns" }).click();
  const table = page.getByRole("combobox", { name: "Table" });
  await table.fill("nothing");
  await page.getByText("Nothing like that").waitFor();
  await table.fill("public.orders");
  await page.getByText(/restore tests?: from 500 to 500/).waitFor();
  await page.getByRole("textbox", { name: "At least" }).fill("501");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Try the check" }).click();
  await page.getByText("The check does not hold on the newest backup").waitFor();
  expect(await page.getByRole("button", { name: "Add the check" }).count()).toBe(0);
  await page.getByRole("textbox", { name: "At least" }).fill("400");
  await page.getByRole("button", { name: "Try the check" }).click();
  await page.getByText("The check holds.").waitFor();
  await page.getByText("an empty public.orders").waitFor();
  await expectAccessible(page);
  await screenshotsOf(page, "check-builder");
  expect(await page.getByRole("textbox", { name: "Name of the check" }).inputValue()).toBe("has-orders");
  await page.getByRole("button", { name: "Add the check" }).click();
  await page.getByText("The check has-orders was added").waitFor();
  expect(config()).toMatch(
    /id: has-orders\n\s+query: select count\(\*\) as n from public.orders\n\s+expect: n >= 400/,
  );
});

test("an auditor sees neither the buttons nor the pages, and an error of the database's server is shown", async () => {
  const auditor = await dashboard.addPerson(org, "auditor");
  const theirs = await dashboard.open(auditor, "/sources");
  await theirs.getByRole("link", { name: "orders", exact: true }).waitFor();
  expect(await theirs.getByRole("link", { name: "Add a source" }).count()).toBe(0);
  await theirs.goto(`${dashboard.server.url}/sources/add`);
  await theirs.getByText("Only owners and admins can add a source.").waitFor();

  server.sql("postgres", "create role guest login");
  server.sql("archive", "revoke connect on database archive from public");
  writeFileSync(join(host.root, "keys", "archive.url"), server.url("archive", "guest"), { mode: 0o600 });
  const page = await dashboard.open(org.owner, "/sources/add");
  await page.getByRole("radio", { name: "PostgreSQL" }).check();
  await hostField(page).selectOption({ index: 1 });
  await page.getByRole("button", { name: "Find databases" }).click();
  await page.getByText(/permission denied for database "archive"/).waitFor();
  await expectAccessible(page);
  await screenshotsOf(page, "add-source-refused");
});

test("the page names an agent that is not running, and the request waits for it", async () => {
  const other = await dashboard.addOrg("Silent & Co");
  const silent = await attach(other);
  await silent.call("POST", "/v1/heartbeat", {
    agent_version: "0.1.0",
    hostname: "silent",
    platform: "linux-x64",
    uptime_s: 1,
    sources: [],
    acks: [],
    remote_config: true,
  });
  const page = await dashboard.open(other.owner, "/sources/add");
  await page.getByRole("radio", { name: "MariaDB" }).check();
  await hostField(page).selectOption({ index: 1 });
  await page.clock.setSystemTime(new Date(Date.now() + 10 * 60_000));
  await page.getByText("has not been heard from for a while").waitFor();
  await page.getByRole("button", { name: "Find databases" }).click();
  await page.getByText("The agent looks for databases on its host").waitFor();
  await expectAccessible(page);
});

test("the commands that let the agent read name the account that it runs as", async () => {
  const other = await dashboard.addOrg("Checkout & Co");
  const machine = await attach(other);
  const beat = async () => {
    const answer = await machine.call("POST", "/v1/heartbeat", {
      agent_version: "0.1.0",
      hostname: "laptop",
      platform: "linux-x64",
      uptime_s: 1,
      sources: [],
      acks: [],
      remote_config: true,
    });
    return answer.json<{ config_requests?: { id: string }[] }>().config_requests ?? [];
  };
  await beat();
  const page = await dashboard.open(other.owner, "/sources/add");
  await page.getByRole("radio", { name: "PostgreSQL" }).check();
  await hostField(page).selectOption({ index: 1 });
  await page.getByRole("button", { name: "Find databases" }).click();
  const [asked] = await until("the request is delivered", async () => {
    const delivered = await beat();
    return delivered.length > 0 && delivered;
  });
  const refused = { engine: "postgresql", state: "refused", databases: [] };
  const servers = [
    { ...refused, place: "socket:postgresql:5432", label: "/run/postgresql", problem: 'no role "jo.b"' },
    { ...refused, place: "source:shop", label: "shop", problem: "no permission" },
  ];
  await machine.call("POST", `/v1/config-requests/${asked?.id}/answer`, {
    result: { kind: "discover", user: "jo.b", servers },
  });
  await page.getByText("no permission").waitFor();
  // Not for the server of a source, which the agent reaches with a connection of its own.
  expect(await page.getByLabel("Commands that let the agent read").allTextContents()).toEqual([
    "sudo -u postgres createuser jo.b\nsudo -u postgres psql -c 'grant pg_read_all_data to \"jo.b\"'",
  ]);
});

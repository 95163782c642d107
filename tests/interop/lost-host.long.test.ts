import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, inject, it } from "vitest";
import { attachedHost, newHost, type Host } from "../e2e/harness/host.ts";
import { api } from "../e2e/harness/https.ts";
import { createAuthKey, createOrganisation } from "../e2e/harness/organisation.ts";
import { startServer, type Server } from "../e2e/harness/server.ts";
import { signUp } from "../e2e/harness/session.ts";
import { bash, makeLostSources, NAMES, type LostSources, type Name } from "./lost-sources.ts";
import { consoleBlocks, yamlBlock } from "./recover-page.ts";

/**
 * docs/recover.md, "When the host is lost": its commands as they are written, with every engine,
 * after the host, its databases and its files are gone.
 */
const ENGINES = {
  shop: "postgresql",
  orders: "mariadb",
  documents: "mongodb",
  invoices: "sqlite",
  papers: "files",
};

let server: Server;
let owner: { token: string; orgId: string };
let sources: LostSources;
const hosts: Host[] = [];

beforeAll(async () => {
  server = await startServer();
  owner = await signUp([server]);
  sources = await makeLostSources();
});
afterEach(() => {
  for (const host of hosts.splice(0)) host.remove();
});
afterAll(async () => {
  await sources.close();
  await server.remove();
});

/** All questions are answered with yes: nobody sits at this console. */
const environment = (): Record<string, string> => ({ ...sources.env, ATTESTORE_YES: "true" });

async function attached(orgId: string): Promise<Host> {
  const org = { server, id: orgId, authKey: await createAuthKey(server, orgId) };
  const host = await attachedHost(org, environment());
  hosts.push(host);
  return host;
}

function bare(): Host {
  const host = newHost(environment());
  hosts.push(host);
  return host;
}

async function must(host: Host, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await host.run(...args);
  expect(code, `${args.join(" ")}\n${stdout}${stderr}`).toBe(0);
  return stdout + stderr;
}

/** A directory where somebody types the page's commands. */
function desk(host: Host): string {
  mkdirSync(join(host.base, "bin"), { recursive: true });
  const program = `#!/bin/sh\nexec '${process.execPath}' '${inject("programs").attestore}' "$@"\n`;
  writeFileSync(join(host.base, "bin/attestore"), program, { mode: 0o755 });
  return mkdtempSync(join(host.base, "desk-"));
}

function type(host: Host, directory: string, commands: string): string {
  const path = [join(host.base, "bin"), "/usr/lib/postgresql/15/bin", process.env["PATH"]].join(delimiter);
  return bash(directory, commands, { ...host.env, PATH: path });
}

/** The page speaks of one source and its backup; the same commands for another. */
function forSource(commands: string, name: Name, backup: string): string {
  const place: Partial<Record<Name, string>> = {
    orders: "--connection env:ORDERS_URL",
    documents: "--connection env:DOCUMENTS_URL",
    invoices: `--path '${sources.base}/invoices.db'`,
    papers: `--path '${sources.base}/papers'`,
  };
  return commands
    .replaceAll("bkp_…", backup)
    .replaceAll(/(--source|source add|\/mnt\/backups\/) ?(shop|papers)/g, (_all, before: string) =>
      before.startsWith("/") ? `${storage()}/${name}` : `${before} ${name}`,
    )
    .replaceAll("postgresql", ENGINES[name])
    .replaceAll("--connection env:SHOP_URL", place[name] ?? "--connection env:SHOP_URL")
    .replaceAll("env:SHOP_SERVER_URL", name === "orders" ? "env:ORDERS_URL" : "env:SHOP_SERVER_URL");
}

const storage = (): string => join(sources.base, "storage");
const INTO = ["shop", "orders"] as const;
const DUMPED = ["documents", "invoices", "papers"] as const;

/** Makes a backup of each source; answers their ids. */
async function backUp(host: Host): Promise<Record<Name, string>> {
  const ids = {} as Record<Name, string>;
  for (const name of NAMES) {
    const made = await host.run("backup", "--source", name, "--json");
    expect(made.code, made.stderr).toBe(0);
    ids[name] = (JSON.parse(made.stdout) as { backup_id: string }).backup_id;
  }
  return ids;
}

it("the same agent goes on, on a new host with a copy of the keys and config.yaml", async () => {
  const lost = await attached((await createOrganisation(server)).id);
  lost.addSources(sources.yaml);
  const backups = await backUp(lost);
  const before = await sources.content();
  await sources.lose();
  const host = bare();
  mkdirSync(host.root, { mode: 0o700 });
  for (const name of ["keys", "config.yaml"])
    cpSync(join(lost.root, name), join(host.root, name), { recursive: true });

  // Nobody is told to back up an empty database.
  const unnamed = await host.run("restore", "--source", "shop", "--into", "shop");
  expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringContaining("--backup")]);
  const [into = "", output = ""] = consoleBlocks("Go on as the same agent");
  for (const name of INTO) type(host, desk(host), forSource(into, name, backups[name]));
  for (const name of DUMPED) {
    const directory = desk(host);
    type(host, directory, forSource(output, name, backups[name]));
    sources.useDump(name, directory);
  }
  expect(await sources.content()).toEqual(before);
  await backUp(host);
  await must(host, "restore-test", "--source", "invoices");
});

it("a new agent goes on, on a new host with the recovery kit", async () => {
  const lost = await attached(owner.orgId);
  lost.addSources(sources.yaml);
  await must(lost, "keys", "recovery-kit", "--output", join(lost.base, "kit.txt"));
  const kit = readFileSync(join(lost.base, "kit.txt"), "utf8");
  const backups = await backUp(lost);
  const before = await sources.content();
  await sources.lose();

  const host = await attached(owner.orgId);
  const [add = "", restore = "", goOn = ""] = consoleBlocks("Go on as a new agent");
  const [, agentId = ""] = /id: (agent_\w+)/.exec(readFileSync(join(host.root, "config.yaml"), "utf8")) ?? [];
  const key = (/AGE-SECRET-KEY-\w+/.exec(kit) ?? [""])[0];
  const [, fingerprint = ""] = /^signed by (SHA256:\S+)/m.exec(kit) ?? [];
  for (const name of NAMES) {
    await handOver(name, agentId);
    type(host, desk(host), forSource(add, name, ""));
  }
  const [head = "", ...entry] = yamlBlock("Go on as a new agent")
    .replace("SHA256:…", fingerprint)
    .split("\n");
  const entries = NAMES.map((name) => entry.join("\n").replace("shop", name));
  appendFileSync(join(host.root, "config.yaml"), [head, ...entries].join("\n"));
  for (const name of NAMES) {
    const directory = desk(host);
    writeFileSync(join(directory, "age.key"), `${key}\n`);
    const target = name === "shop" || name === "orders" ? "--into shop" : "--output backup.dump";
    type(host, directory, forSource(restore, name, backups[name]).replace("--into shop", target));
    if (target.startsWith("--output")) sources.useDump(name as (typeof DUMPED)[number], directory);
  }
  expect(await sources.content()).toEqual(before);

  const directory = desk(host);
  type(host, directory, goOn);
  for (const name of NAMES.slice(1)) await must(host, "backup", "--source", name);
  await revokeAgentOf(lost);
  writeFileSync(join(directory, "age.key"), `${key}\n`);
  const again = ["restore", "--source", "papers", "--backup", backups.papers, "--identity"];
  await must(host, ...again, join(directory, "age.key"), "--output", join(directory, "again.dump"));
});

it("without a service, backups are restored from the storage", async () => {
  const lost = bare();
  await must(lost, "init", "--standalone", "--storage", storage());
  lost.addSources(sources.yaml);
  await must(lost, "keys", "recovery-kit", "--output", join(lost.base, "kit.txt"));
  const backups = await backUp(lost);
  const before = await sources.content();
  await sources.lose();

  const host = bare();
  const [file = "", database = ""] = consoleBlocks("Restore from the storage");
  const key = (/AGE-SECRET-KEY-\w+/.exec(readFileSync(join(lost.base, "kit.txt"), "utf8")) ?? [""])[0];
  for (const name of NAMES) {
    const directory = desk(host);
    writeFileSync(join(directory, "age.key"), `${key}\n`);
    const block = name === "shop" || name === "orders" ? database : file;
    const commands = forSource(block, name, backups[name]);
    type(host, directory, name === "orders" ? commands.replace(/^createdb.*$/m, "") : commands);
    if (block === file) sources.useDump(name as (typeof DUMPED)[number], directory);
  }
  expect(await sources.content()).toEqual(before);

  // With what else the page names of the root, no backup has to be named.
  const whole = bare();
  for (const name of ["keys", "config.yaml", "receipts", "log", "blobs/stored"])
    cpSync(join(lost.root, name), join(whole.root, name), { recursive: true });
  await must(whole, "restore", "--source", "papers", "--output", join(whole.base, "papers.dump"));
  await must(whole, "receipts", "verify");
});

async function handOver(slug: string, agentId: string): Promise<void> {
  const path = `/api/orgs/${owner.orgId}/sources`;
  const listed = await api(server, { method: "GET", path: `${path}?limit=100`, token: owner.token });
  const found = listed
    .json<{ items: { id: string; slug: string }[] }>()
    .items.find((each) => each.slug === slug);
  const call = { method: "POST", path: `${path}/${found?.id}/configure`, token: owner.token };
  const answer = await api(server, { ...call, json: { agent_id: agentId } });
  expect(answer.status, answer.body.toString()).toBe(200);
}

async function revokeAgentOf(host: Host): Promise<void> {
  const [, id = ""] = /id: (agent_\w+)/.exec(readFileSync(join(host.root, "config.yaml"), "utf8")) ?? [];
  const { code, stderr } = await server.cli("agent", "revoke", id);
  expect(code, stderr).toBe(0);
}

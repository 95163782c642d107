import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "@attestore/contract";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runCli, startCli, type Finished } from "./service/cli.ts";
import { attachedRoot, type TestRoot } from "./service/test-root.ts";
import { TestService } from "./service/test-service.ts";

/** Files of the root that a failing disk or an editor has emptied. */

let service: TestService;
let root: TestRoot;
beforeEach(async () => {
  service = await TestService.start();
  root = await attachedRoot(service, "  papers: { engine: files, path: papers }\n");
  mkdirSync(at("papers"));
  writeFileSync(at("papers/one.txt"), "one\n");
  expect((await cli("backup")).code).toBe(0);
});
afterEach(async () => {
  root.remove();
  await service.stop();
});

const at = (path: string): string => join(root.layout.root, path);
const env = () => ({ env: { ATTESTORE_HOME: root.layout.root } });
const cli = (...args: string[]): Promise<Finished> => runCli(args, env());

it.each(["log/head.json", "log/pinned.json", "receipts/00000001-backup.json"])(
  "a backup over an empty %s names it, and goes on once it is whole again",
  async (name) => {
    const whole = readFileSync(at(name));
    writeFileSync(at(name), "");
    const refused = await cli("backup", "--json");
    expect(refused.code, refused.stderr).toBe(2);
    const { error, message } = JSON.parse(refused.stdout) as { error: string; message: string };
    expect([error, message]).toEqual(["root_damaged", expect.stringContaining(`${at(name)} is damaged`)]);
    expect(message).toContain("docs/agent.md");
    expect(refused.stderr).not.toMatch(/bug in attestore|\n\s+at /);
    writeFileSync(at(name), whole);
    const again = await cli("backup");
    expect(again.code, again.stderr).toBe(0);
  },
);

it("what the service says again with its next answer is not missed", async () => {
  for (const name of ["log/sources.json", "log/heartbeat.json"]) writeFileSync(at(name), "");
  const status = await cli("status");
  expect(status.stderr).toBe("");
  expect(status.stdout).toContain("papers");
  expect((await cli("backup")).code).toBe(0);
  expect(JSON.parse(readFileSync(at("log/sources.json"), "utf8"))).toHaveProperty("papers");
});

it("doctor lists every damaged file, and still examines the rest", async () => {
  const command = at(`commands/${newId("command")}.json`);
  const waiting = at("receipts/waiting/00000002-backup.json");
  const spool = at(`blobs/${"0".repeat(64)}.json`);
  for (const path of [command, waiting, spool, at("log/pinned.json")]) writeFileSync(path, "{");
  const done = await cli("doctor", "--json");
  expect(done.code, done.stderr).toBe(1);
  const { findings } = JSON.parse(done.stdout) as { findings: { title: string; detail: string }[] };
  const records = findings.find(({ title }) => title === "records")?.detail ?? "";
  expect(records).toContain("4 damaged files");
  for (const path of [command, waiting, spool, at("log/pinned.json")]) expect(records).toContain(path);
  for (const title of ["disk", "log", "spool"]) expect(findings.map((one) => one.title)).toContain(title);
});

it("doctor examines the rest over a damaged receipt, a damaged recovery kit and a file that cannot be read", async () => {
  const shop = `  shop: { engine: postgresql, connection: "postgresql:///none?host=${root.layout.root}", sandbox: container }\n`;
  appendFileSync(root.layout.config, shop);
  writeFileSync(at("log/sources.json"), JSON.stringify({ shop: newId("source") }));
  const receipt = at("receipts/00000001-backup.json");
  const kept = at(`blobs/stored/${newId("backup")}.json`);
  mkdirSync(at("blobs/stored"), { recursive: true });
  for (const path of [receipt, kept, at("keys/recovery.json")]) writeFileSync(path, "{");
  const unreadable = at("receipts/waiting/00000002-backup.json");
  mkdirSync(unreadable);
  const done = await cli("doctor", "--json");
  expect(done.code, done.stderr).toBe(1);
  const { findings } = JSON.parse(done.stdout) as { findings: { title: string; detail: string }[] };
  const found = new Map(findings.map(({ title, detail }) => [title, detail]));
  const records = found.get("records") ?? "";
  expect(records).toContain("4 damaged files");
  for (const path of [receipt, kept, at("keys/recovery.json"), `${unreadable} (EISDIR)`])
    expect(records).toContain(path);
  expect(found.get("recovery kit")).toContain(`not examined: ${at("keys/recovery.json")} is damaged`);
  expect(found.get("engines")).toContain(`not examined: ${unreadable} can't be read (EISDIR)`);
  for (const title of ["disk", "service", "spool"]) expect([...found.keys()]).toContain(title);
});

it("what a damaged file says is not in the message", async () => {
  writeFileSync(at("log/pinned.json"), "secret");
  const { stdout } = await cli("backup", "--json");
  expect(stdout).toContain(`${at("log/pinned.json")} is damaged`);
  expect(stdout).not.toContain("secret");
});

it("a running agent ends over a damaged command, names it, and takes commands once it is moved away", async () => {
  const path = at(`commands/${newId("command")}.json`);
  writeFileSync(path, "");
  const { code, stderr } = await startCli(["run"], env()).finished;
  expect(code).toBe(2);
  expect(stderr).toContain(`${path} is damaged`);
  expect(stderr).not.toContain("bug in attestore");
  renameSync(path, join(root.layout.root, "moved"));
  const agent = startCli(["run"], env());
  try {
    const { id } = service.command("backup", "papers", "files");
    await agent.said(`${id}: backed up papers`);
  } finally {
    agent.process.kill("SIGTERM");
    await agent.finished;
  }
});

import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ProgressReports } from "../src/cli/run/progress-reports.ts";
import { CommandWait } from "../src/cli/run/command-wait.ts";
import { openService } from "../src/service/service.ts";
import { tryLock } from "../src/state/lock.ts";
import { journalCommand, openCommands } from "../src/journal/command-journal.ts";
import { recordBackup } from "../src/journal/pending-backup.ts";
import { done, kinds, reasons, root, service, startAgent, useRunningAgent } from "./running-agent.ts";
import { runCli } from "./service/cli.ts";
import { failure } from "./service/test-service.ts";
import { until } from "./until.ts";

useRunningAgent();

it("while a command runs, the agent says how far it is, until a service does not want to know", async () => {
  service.letsWait = true;
  const { certificates, token } = service;
  const client = openService({ url: new URL(service.url), pinnedCa: certificates.ca, token });
  const { id } = service.command("backup", "invoices", "sqlite");
  {
    await using reports = new ProgressReports(client, id, new AbortController().signal);
    reports.update("dump", 1000, 4000);
    await until("1 report of progress", () => service.progress.length === 1);
    reports.update("dump", 4000, 4000);
    reports.update("checks", 3);
    reports.update("upload", 10);
    await until("2 reports of progress", () => service.progress.length === 2);
    // A service of an earlier version.
    service.interfere = ({ body }) =>
      body.includes("ended") ? failure(400, "invalid_request", "body/ended is not expected") : undefined;
    await until("3 reports of progress", () => service.progress.length === 3);
    service.letsWait = false;
    const told = service.calls.length;
    await until("further calls", () => service.calls.length > told);
  }
  expect(service.progress).toEqual([
    [id, { phase: "dump", bytes: 1000, total_bytes: 4000, phase_ms: expect.any(Number) }],
    [
      id,
      {
        phase: "upload",
        bytes: 10,
        phase_ms: expect.any(Number),
        ended: [
          { phase: "dump", bytes: 4000, took_ms: expect.any(Number) },
          { phase: "checks", bytes: 0, checks: 3, took_ms: expect.any(Number) },
        ],
      },
    ],
    [id, { phase: "upload", bytes: 10, phase_ms: expect.any(Number) }],
  ]);
  client.close();
});

it("when announced commands never come, the agent asks less often", async () => {
  service.interfere = ({ route }) =>
    route === "GET /v1/commands" ? { status: 200, body: JSON.stringify({ queued: true }) } : undefined;
  const { signal } = new AbortController();
  const { certificates, token } = service;
  const client = openService({ url: new URL(service.url), pinnedCa: certificates.ca, token });
  const commands = new CommandWait(client);
  await commands.wait(3_600_000, signal);
  commands.heard(0);
  await commands.wait(1_200, signal);
  expect(service.calls.map(({ route }) => route)).toEqual(["GET /v1/commands"]);
  client.close();
});

it("declares tags and environments, and sends heartbeats without them to a service that takes none", async () => {
  const text = readFileSync(root.layout.config, "utf8");
  writeFileSync(
    root.layout.config,
    text.replace("engine: sqlite", "engine: sqlite, tags: [eu, billing], environment: production"),
  );
  const labelled = (): boolean =>
    service.heartbeats.some(({ sources }) => sources.some(({ tags }) => tags?.[0] === "billing"));
  let agent = await startAgent();
  await until("the labels are there", labelled);
  agent.process.kill("SIGTERM");
  await agent.finished;
  service.interfere = ({ route, body }) =>
    route === "POST /v1/heartbeat" && body.includes('"environment"')
      ? failure(400, "invalid_request", "an earlier version")
      : undefined;
  service.heartbeats.length = 0;
  agent = await startAgent();
  await until("a first heartbeat", () => service.heartbeats.length > 0);
  expect(labelled()).toBe(false);
  expect(service.heartbeats[0]?.sources.map(({ slug }) => slug)).toContain("invoices");
  agent.process.kill("SIGTERM");
  expect((await agent.finished).code).toBe(0);
});

it("attestore run reports what could not run, and continues", async () => {
  await startAgent();
  const unknown = service.command("backup", "other", "sqlite");
  const untested = service.command("restore_test", "invoices", "sqlite");
  await until("2 events", () => service.events.length === 2);
  const fine = service.command("backup", "invoices", "sqlite");
  await until("the command is done and 1 receipt", () => done(fine.id) && service.receipts.length === 1);
  expect(reasons()).toEqual(
    expect.arrayContaining([
      ["backup_failed", unknown.id, "source_unknown"],
      ["restore_failed", untested.id, "backup_unknown"],
    ]),
  );
});

it("the agent waits for a service that is down, and works when it comes back", async () => {
  const port = service.port;
  await service.stop();
  const agent = await startAgent();
  await agent.said("can't be reached");
  await service.listen(port);
  const command = service.command("backup", "invoices", "sqlite");
  await until("the command is done and 1 receipt", () => done(command.id) && service.receipts.length === 1);
  await agent.said("the service answers again");
});

/** A whole ciphertext that waits, as a run leaves it that could not store it. */
async function waitingBackup(source: string): Promise<string> {
  const content = randomBytes(1_000);
  const sha256 = createHash("sha256").update(content).digest("hex");
  writeFileSync(join(root.layout.blobs, `${sha256}.age`), content);
  const now = new Date().toISOString();
  await recordBackup(root.layout, {
    sha256,
    size_bytes: content.length,
    source,
    command_id: null,
    cipher: { name: "age-v1", recipients: [...root.config.recipients] },
    source_metadata: { engine: "sqlite", engine_version: "3", dump_format: "x", schema_hash: sha256 },
    started_at: now,
    finished_at: now,
  });
  return sha256;
}

it("delivers what waits although one backup's source is removed and another is refused, and keeps running", async () => {
  await waitingBackup("gone");
  const refused = await waitingBackup("invoices");
  const fine = await waitingBackup("invoices");
  service.interfere = ({ route, body }) =>
    route === "POST /v1/backups/upload-url" && body.includes(refused)
      ? failure(422, "statement_mismatch", "no")
      : undefined;
  const agent = await startAgent();
  await until("1 receipt", () => service.receipts.length === 1);
  expect([...service.backups.values()].map(({ sha256 }) => sha256)).toEqual([fine]);
  // Each is reported, in whichever order they are tried.
  await agent.said('did not register the source "gone"');
  await agent.said(`a backup of invoices is queued in blobs/${refused}.age`);
  const command = service.command("backup", "invoices", "sqlite");
  await until("the command is done and 2 receipts", () => done(command.id) && service.receipts.length === 2);

  agent.process.kill("SIGTERM");
  expect((await agent.finished).code).toBe(0);
  const late = await waitingBackup("invoices");
  const synced = await runCli(["sync", "--json"], { env: { ATTESTORE_HOME: root.layout.root } });
  expect(JSON.parse(synced.stdout)).toMatchObject({ backups_delivered: 1, backups_waiting: 2, accepted: 1 });
  expect([...service.backups.values()].at(-1)?.sha256).toBe(late);
  // The refused backup stays: the agent may not delete it.
  expect(readdirSync(root.layout.blobs)).toContain(`${refused}.age`);
});

it("a refused backup is reported once, however often it is tried", async () => {
  const refused = await waitingBackup("invoices");
  service.interfere = ({ route, body }) =>
    route === "POST /v1/backups/upload-url" && body.includes(refused)
      ? failure(422, "statement_mismatch", "no")
      : undefined;
  const agent = await startAgent();
  await agent.said("a backup of invoices is queued in blobs/");
  // What waits is tried again before each command is run.
  for (let round = 0; round < 2; round++) {
    const command = service.command("backup", "invoices", "sqlite");
    await until("the command is done", () => done(command.id));
  }
  agent.process.kill("SIGTERM");
  const { stdout, stderr } = await agent.finished;
  expect(`${stdout}${stderr}`.split("a backup of invoices is queued in blobs/")).toHaveLength(2);
  expect(service.calls.filter(({ body }) => body.includes(refused)).length).toBeGreaterThan(2);
});

it("the agent keeps the last good config.yaml while it cannot be read, and continues while a key cannot", async () => {
  const tree = join(root.layout.root, "tree");
  mkdirSync(tree);
  writeFileSync(join(tree, "file"), "content");
  appendFileSync(root.layout.config, "  tree: { engine: files, path: tree }\n");
  // The superuser may read everything. The agent runs as whom its root belongs to.
  if (process.geteuid?.() === 0) execFileSync("chown", ["-R", "65534:65534", root.layout.root]);
  const agent = await startAgent();
  chmodSync(root.layout.config, 0);
  await agent.said("the last valid one stays in use");
  const first = service.command("backup", "tree", "files");
  await until("the command is done and 1 receipt", () => done(first.id) && service.receipts.length === 1);
  const status = await runCli(["status"], { env: { ATTESTORE_HOME: root.layout.root } });
  expect(status).toMatchObject({ code: 2, stderr: expect.stringContaining("can't be read (EACCES)") });
  expect(status.stderr).toContain("`attestore run` keeps using the last valid configuration");

  chmodSync(root.layout.ageIdentity, 0);
  const untested = service.command("restore_test", "tree", "files");
  await until("1 event", () => service.events.length === 1);
  expect(reasons()).toEqual([["restore_failed", untested.id, "root_unusable"]]);
  chmodSync(root.layout.ageIdentity, 0o600);
  chmodSync(root.layout.config, 0o600);
  const tested = service.command("restore_test", "tree", "files");
  await until("the command is done and 2 receipts", () => done(tested.id) && service.receipts.length === 2);
  expect(kinds()).toEqual(["backup", "passed"]);
  agent.process.kill("SIGTERM");
  const { code, stdout, stderr } = await agent.finished;
  expect(code).toBe(0);
  expect(`${stdout}${stderr}`.split("the last valid one stays in use")).toHaveLength(2);
  chmodSync(root.layout.config, 0);
  const again = await runCli(["run"], { env: { ATTESTORE_HOME: root.layout.root } });
  expect((await runCli(["status"], { env: { ATTESTORE_HOME: root.layout.root } })).stderr).not.toContain(
    "keeps using",
  );
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("can't be read (EACCES)") });
  // Somebody who may look at the locks as little as at the configuration is told of that, and not
  // of a defect.
  chmodSync(root.layout.locks, 0);
  const others = await runCli(["status"], { env: { ATTESTORE_HOME: root.layout.root } });
  chmodSync(root.layout.locks, 0o700);
  expect(others).toMatchObject({ code: 2, stderr: expect.stringContaining("can't be read (EACCES)") });
  expect(others.stderr).not.toContain("defect");
});

it("the agent asks again within an hour, whatever interval the service sets", async () => {
  service.intervalS = 10_000_000;
  await startAgent();
  await until("a first heartbeat", () => service.heartbeats.length > 0);
  expect((await runCli(["backup"], { env: { ATTESTORE_HOME: root.layout.root } })).code).toBe(0);
  // One of the agent, and one of the backup at most, which asks what its source is called.
  expect(service.heartbeats.length).toBeLessThanOrEqual(2);
});

it("a foreground command leaves the service's commands to the running agent, if there is one", async () => {
  const home = { env: { ATTESTORE_HOME: root.layout.root } };
  const command = service.command("backup", "invoices", "sqlite");
  // Asks what its source is called: that is a heartbeat.
  expect((await runCli(["backup"], home)).code).toBe(0);
  expect(await openCommands(root.layout)).toEqual([]);
  {
    using running = tryLock(root.layout, "run", "run");
    expect(running).not.toBeNull();
    expect((await runCli(["backup"], home)).code).toBe(0);
  }
  expect(service.heartbeats).toHaveLength(2);
  expect(await openCommands(root.layout)).toMatchObject([{ command, state: "received" }]);
  // It was delivered, and is not delivered again so soon.
  service.commands = [];
  await startAgent();
  await until("the command is done and 3 receipts", () => done(command.id) && service.receipts.length === 3);
});

it("attestore run runs commands that another process of its root received, and acknowledges them at its next heartbeat", async () => {
  await startAgent();
  await until("further heartbeats", () => service.heartbeats.length > 1);
  const command = service.command("backup", "invoices", "sqlite");
  service.commands = [];
  await journalCommand(root.layout, command);
  const acked = (): boolean =>
    service.heartbeats.some(({ acks }) => acks.some(({ command_id }) => command_id === command.id));
  await expect.poll(acked).toBe(true);
  await until("the command is done and 1 receipt", () => done(command.id) && service.receipts.length === 1);
});

it("attestore run reports a forked log, signs nothing more, and keeps running to say so", async () => {
  const agent = await startAgent();
  const first = service.command("backup", "invoices", "sqlite");
  await until("the command is done and 1 receipt", () => done(first.id) && service.receipts.length === 1);
  await until("a heartbeat with a cosignature", () => service.heartbeats.at(-1)?.cosignature !== undefined);
  service.log = service.log.fork(0);
  service.log.appendHash(new Uint8Array(32));
  await agent.said("does not extend what this agent has seen");
  await until(
    "a first event and a heartbeat without a cosignature",
    () => service.events.length > 0 && service.heartbeats.at(-1)?.cosignature === undefined,
  );
  expect(service.events[0]?.event).toMatchObject({
    kind: "attestation_failed",
    detail: { reason: "head_forked" },
  });
  const second = service.command("backup", "invoices", "sqlite");
  await until("the command is done", () => done(second.id));
  expect(service.receipts).toHaveLength(1);
  expect(service.uploads.size).toBe(1);
  const status = await runCli(["status", "--root", root.layout.root]);
  expect(status.code).toBe(1);
  expect(status.stdout).toContain("ALARM");
});

it("the agent keeps the last good config.yaml while it is broken or missing", async () => {
  const agent = await startAgent();
  const good = readFileSync(root.layout.config, "utf8");
  writeFileSync(root.layout.config, `${good}defaults: *nowhere\n`);
  await agent.said("the last valid one stays in use");
  await agent.said("Unresolved alias");
  rmSync(root.layout.config);
  await agent.said("does not exist");
  const command = service.command("backup", "invoices", "sqlite");
  await until("the command is done and 1 receipt", () => done(command.id) && service.receipts.length === 1);
});

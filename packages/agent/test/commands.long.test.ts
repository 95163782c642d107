import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { newId } from "@attestore/contract";
import { parseBundle, verifyReceipt, type BackupStatement } from "@attestore/proof";
import { expect, it } from "vitest";
import { tryLock } from "../src/state/lock.ts";
import { at, cli, json, root, service, useInvoicesAndPapers, writeInvoices } from "./invoices-and-papers.ts";
import { runCli, startCli } from "./service/cli.ts";
import { failure } from "./service/test-service.ts";

useInvoicesAndPapers();

function countInvoices(path: string): unknown {
  const database = new DatabaseSync(path, { readOnly: true });
  const row = database.prepare("select count(*) as n from invoices").get();
  database.close();
  return row?.["n"];
}

interface Status {
  sources: { source: string; verdict: string }[];
  problems: { what: string; next: string }[];
  waiting: { backups: number; receipts: number; events: number };
}
const verdict = (status: Status, name: string) =>
  status.sources.find(({ source }) => source === name)?.verdict;

it("the agent adds a template's checks to a source once, keeps its own, and refuses one of another engine", async () => {
  const configured = (): string => readFileSync(root.layout.config, "utf8");
  const nextcloud = ["check", "add", "invoices", "--template", "nextcloud", "--yes"];
  expect(await json([...nextcloud, "--table-prefix", "x_"])).toEqual({
    source: "invoices",
    template: "nextcloud",
    added: ["nextcloud-apps", "nextcloud-users", "nextcloud-files"],
  });
  expect(configured()).toContain("from x_users where password");
  expect(configured()).toContain("id: rows");
  expect(await json(nextcloud)).toMatchObject({
    added: [],
  });
  const before = configured();
  for (const [args, message] of [
    [["--template", "wordpress"], "is for sources of mariadb, mysql, not of sqlite"],
    [["--template", "djnago"], 'did you mean "django"?'],
    [["--template", "nextcloud", "--table-prefix", "x; drop"], "--table-prefix takes"],
    [["--template", "django", "--table-prefix", "x_"], "tables have no prefix"],
    [[], "which template?"],
  ] as const) {
    const done = await cli(["check", "add", "invoices", "--yes", ...args]);
    expect(done.code).toBe(2);
    expect(done.stderr).toContain(message);
  }
  expect(configured()).toBe(before);
  const listed = await json<{ templates: { name: string }[] }>(["check", "templates"]);
  expect(listed.templates.map(({ name }) => name)).toEqual([
    "wordpress",
    "nextcloud",
    "gitlab",
    "odoo",
    "django",
  ]);
});

it("the agent backs up, proves that it restores, and restores to a file; every receipt verifies", async () => {
  expect(verdict(await json<Status>(["status"], 1), "invoices")).toBe("no_backup");
  const made = await json(["backup", "--source", "invoices"]);
  expect(made).toMatchObject({ source: "invoices", receipt: "accepted", log_index: 0 });
  expect(readdirSync(root.layout.blobs)).toEqual([]);
  expect(verdict(await json<Status>(["status"], 1), "invoices")).toBe("untested");

  const tested = await json<{ checks: { id: string; result: string }[] }>([
    "restore-test",
    "--source",
    "invoices",
  ]);
  expect(tested).toMatchObject({ result: "passed", backup_id: made["backup_id"], receipt: "accepted" });
  expect(tested.checks.find(({ id }) => id === "rows")?.result).toBe("passed");
  expect(readdirSync(root.layout.scratch)).toEqual([]);
  expect(verdict(await json<Status>(["status"], 1), "invoices")).toBe("proven");

  const output = at("restored.db");
  const args = ["restore", "--source", "invoices", "--output", output];
  await json(args);
  expect(countInvoices(output)).toBe(200);
  expect(await json(args, 2)).toMatchObject({ error: "usage" });

  await json(["backup", "--source", "papers"]);
  await json(["restore-test", "--source", "papers"]);
  const status = await json<Status>(["status"]);
  expect(status.problems).toEqual([]);

  const names = readdirSync(root.layout.receipts).filter((name) => name.endsWith(".json"));
  expect(names.toSorted()).toEqual([
    "00000001-backup.json",
    "00000002-restore-test.json",
    "00000003-backup.json",
    "00000004-restore-test.json",
  ]);
  const { key, logKey } = root.attachment;
  for (const name of names) {
    const bundle = parseBundle(readFileSync(join(root.layout.receipts, name)));
    expect((await verifyReceipt({ bundle, publicKey: key.publicKey, logKey })).verdict).toBe("true");
  }
});

it("the agent refuses to back up a removed source or another agent's source, and leaves no orphaned ciphertext", async () => {
  await json(["backup", "--source", "invoices"]);
  using _ = tryLock(root.layout, "run", "test");
  const other = newId("agent");
  for (const refuse of [
    () => service.ownedByOthers.set("invoices", other),
    () => service.removed.add("invoices"),
  ]) {
    refuse();
    const refused = await json(["backup", "--source", "invoices"], 2);
    expect(refused).toMatchObject({
      error: "source_unknown",
      message: expect.stringMatching(/Nothing was dumped\. .*another name in config\.yaml/),
    });
    expect(String(refused["message"])).toContain(service.removed.size === 0 ? other : "was removed");
    expect(readdirSync(root.layout.blobs)).toEqual([]);
  }
  expect([service.backups.size, service.uploads.size, service.events.length]).toEqual([1, 1, 0]);
});

it("attestore backup sends no heartbeat while no agent runs, and still leaves no orphaned second ciphertext", async () => {
  await json(["backup", "--source", "invoices"]);
  const beats = service.heartbeats.length;
  await json(["backup", "--source", "invoices"]);
  // The service would take it for a sign of life, and tell people of it.
  expect(service.heartbeats).toHaveLength(beats);

  service.ownedByOthers.set("invoices", newId("agent"));
  service.interfere = ({ route }) =>
    route === "POST /v1/backups/upload-url" ? failure(403, "forbidden", "another agent's") : undefined;
  expect(await json(["backup", "--source", "invoices"], 2)).toMatchObject({ error: "refused" });
  const left = readdirSync(root.layout.blobs);
  expect(await json(["backup", "--source", "invoices"], 2)).toMatchObject({ error: "source_unknown" });
  expect(readdirSync(root.layout.blobs)).toEqual(left);
});

it("a backup whose stored bytes are damaged fails its test, with exit code 1", async () => {
  const made = await json<{ backup_id: string }>(["backup", "--source", "invoices"]);
  const stored = service.objects.get(service.objectKey(made.backup_id)) ?? Buffer.alloc(0);
  const middle = Math.floor(stored.length / 2);
  stored[middle] = (stored[middle] ?? 0) ^ 1;
  const tested = await json(["restore-test", "--source", "invoices"], 1);
  expect(tested).toMatchObject({ result: "failed", receipt: "accepted" });
  expect(tested["reason"]).toEqual(expect.any(String));
  const status = await json<Status>(["status"], 1);
  expect(verdict(status, "invoices")).toBe("failed");
  const printed = (await cli(["status"])).stdout;
  expect(printed).toMatch(/✗ FAILED {4}invoices +tested (just now|.* ago), 0 checks/);
  expect(printed).not.toContain("restored");

  const restored = await json(["restore", "--source", "invoices", "--output", at("out.db")], 1);
  expect(restored).toMatchObject({ error: expect.any(String) });
  expect(readdirSync(root.layout.root)).not.toContain("out.db");

  // Short, and gone.
  service.objects.set(service.objectKey(made.backup_id), stored.subarray(0, middle));
  expect(await json(["restore-test", "--source", "invoices"], 1)).toMatchObject({ result: "failed" });
  service.objects.delete(service.objectKey(made.backup_id));
  expect(await json(["restore-test", "--source", "invoices"], 2)).toMatchObject({ error: "object_refused" });
  expect(service.events.at(-1)?.event).toMatchObject({
    kind: "restore_failed",
    detail: { reason: "object_refused" },
  });
});

it("the agent fails a restore test whose check does not hold", async () => {
  writeInvoices(50);
  await json(["backup", "--source", "invoices"]);
  const tested = await cli(["restore-test", "--source", "invoices"]);
  expect(tested.code).toBe(1);
  expect(tested.stdout).toContain("FAILED");
});

it("the agent reports a source that can't be backed up, with exit code 2, and leaves nothing behind", async () => {
  rmSync(at("invoices.db"));
  expect(await json(["backup", "--source", "invoices"], 2)).toMatchObject({ error: "source_missing" });
  expect(service.events).toMatchObject([
    { event: { kind: "backup_failed", detail: { reason: "source_missing" } } },
  ]);
  expect(readdirSync(root.layout.blobs)).toEqual([]);
  expect(service.receipts).toEqual([]);
});

it("a backup that the service can't take yet is kept, and sync uploads it", async () => {
  await json(["backup", "--source", "papers"]);
  await service.stop();
  const { port } = new URL(root.config.service?.url ?? "");
  const failed = await cli(["backup", "--source", "invoices"]);
  expect(failed.code).toBe(2);
  expect(failed.stderr).toContain("queued in blobs/");
  const status = await json<Status>(["status"], 1);
  expect(status.waiting.backups).toBe(1);
  expect(await json(["sync"], 2)).toMatchObject({ backups_waiting: 1, stopped_by: { error: "unreachable" } });

  await service.listen(Number(port));
  expect(await json(["sync"])).toMatchObject({ backups_delivered: 1, accepted: 1, backups_waiting: 0 });
  expect(await json(["restore-test", "--source", "invoices"])).toMatchObject({ result: "passed" });
});

it("a receipt without an answer is kept, and submitted the next time", async () => {
  service.interfere = ({ route }) =>
    route === "POST /v1/receipts"
      ? { ...failure(503, "unavailable", "x"), headers: { "retry-after": "60" } }
      : undefined;
  expect(await json(["backup", "--source", "papers"])).toMatchObject({
    receipt: "waiting",
    receipt_id: null,
  });
  service.interfere = () => undefined;
  expect(await json(["restore-test", "--source", "papers"])).toMatchObject({
    receipt: "accepted",
    log_index: 1,
  });
  expect(service.receipts).toHaveLength(2);
});

it("an answer of the service or the store that switches protocols counts as none, and the request is repeated", async () => {
  const upgraded = new Set<string>();
  service.interfere = ({ route }) => {
    const call = route.replace(/[/](?:src|bkp|upl)_.*|(?<=^(?:PUT|GET) ).*/, "");
    if (upgraded.has(call)) return undefined;
    upgraded.add(call);
    return { status: 101, body: "", headers: { connection: "upgrade", upgrade: "h2c" } };
  };
  expect(await json(["backup", "--source", "papers"])).toMatchObject({ receipt: "accepted" });
  rmSync(root.layout.blobs, { recursive: true });
  mkdirSync(root.layout.blobs);
  expect(await json(["restore-test", "--source", "papers"])).toMatchObject({ result: "passed" });
  expect([...upgraded]).toEqual(
    expect.arrayContaining(["PUT ", "GET ", "POST /v1/backups", "POST /v1/receipts"]),
  );
});

it("tests a backup whose receipt this host has lost, by the receipt in the log", async () => {
  const { backup_id: id } = await json<{ backup_id: string }>(["backup", "--source", "invoices"]);
  rmSync(join(root.layout.receipts, "00000001-backup.json"));
  // It does not say that there is none: a backup of a lost database would be the newest.
  expect(await json(["restore-test", "--source", "invoices"], 2)).toMatchObject({
    error: "backup_unknown",
    message: expect.stringContaining("host has no receipt of a backup of invoices. Name one") as string,
  });
  expect(await json(["restore-test", "--source", "invoices", "--backup", id])).toMatchObject({
    result: "passed",
  });
  expect(await json(["restore-test", "--source", "papers", "--backup", id], 2)).toMatchObject({
    error: "backup_unknown",
  });
});

it("the agent backs up a source that is another database now, and tests it once a person confirms", async () => {
  const { backup_id: first } = await json<{ backup_id: string }>(["backup", "--source", "invoices"]);
  await json(["restore-test", "--source", "invoices"]);
  const database = new DatabaseSync(at("invoices.db"));
  database.exec("pragma application_id = 7");
  database.close();
  const warned = await cli(["backup", "--source", "invoices"]);
  expect(warned.code, warned.stderr).toBe(0);
  expect(warned.stderr).toContain("attestore source confirm invoices");
  // Signed, so that nobody has to believe this host's state. The third is the alarm.
  const marked = JSON.parse((await cli(["receipts", "show", "4"])).stdout) as { statement: BackupStatement };
  expect(marked.statement.predicate.source_metadata).toMatchObject({
    source: { slug: "invoices", identity: { application_id: "00000007" }, unconfirmed: true },
  });
  expect(await json(["restore-test", "--source", "invoices"], 2)).toMatchObject({
    error: "identity_changed",
  });
  expect((await cli(["status"])).stdout).toContain("attestore source confirm invoices");
  expect((await cli(["doctor"])).stdout).toContain("attestore source confirm invoices");
  const told = service.events.map(({ event }) => [event.kind, event.detail["reason"]]);
  expect(told).toEqual([
    ["attestation_failed", "identity_changed"],
    ["restore_failed", "identity_changed"],
  ]);
  // A backup of the database that was there before can still be tested.
  await json(["restore-test", "--source", "invoices", "--backup", first]);
  expect(await json(["source", "confirm", "invoices", "--yes"])).toMatchObject({
    identity: { application_id: "00000007" },
  });
  expect(await json(["source", "confirm", "invoices", "--yes"], 2)).toMatchObject({ error: "usage" });
  expect(await json(["restore-test", "--source", "invoices"])).toMatchObject({ result: "passed" });
  expect((await cli(["status"])).stdout).not.toContain("source confirm");
  expect(service.events.at(-1)?.event).toMatchObject({
    kind: "change_accepted",
    detail: { change: "identity", after: { application_id: "00000007" } },
  });
});

it("the agent fails a test of a directory that lost most of its files until somebody accepts it, and the log has their name", async () => {
  for (let n = 0; n < 9; n += 1) writeFileSync(at(`papers/more-${n}`), `page ${n}`);
  await json(["backup", "--source", "papers"]);
  await json(["restore-test", "--source", "papers"]);
  for (let n = 0; n < 9; n += 1) rmSync(at(`papers/more-${n}`));
  await json(["backup", "--source", "papers"]);
  expect(await json(["restore-test", "--source", "papers"], 1)).toMatchObject({
    reason: expect.stringContaining("attestore accept papers . --because REASON"),
  });
  expect(await json(["accept", "papers"], 1)).toMatchObject({ lost: [{ table: "." }] });
  const accepted = await json(["accept", "papers", ".", "--because", "moved to the archive"]);
  expect(accepted).toMatchObject({ tables: ["."], waiting: 0 });
  expect(service.events.at(-1)).toMatchObject({
    event: {
      kind: "change_accepted",
      source_id: expect.stringMatching(/^src_/),
      detail: { change: "tables", tables: ["."], because: "moved to the archive", by: accepted["by"] },
    },
    envelope: { payload: expect.any(String) },
  });
  await json(["restore-test", "--source", "papers"]);
});

it("the agent restores a local ciphertext with only an identity", async () => {
  const { backup_id: id } = await json<{ backup_id: string }>(["backup", "--source", "invoices"]);
  const file = at("backup.age");
  writeFileSync(file, service.objects.get(service.objectKey(id)) ?? "");
  const output = at("alone.db");
  const identity = root.layout.ageIdentity;
  const done = await runCli(["restore", "--file", file, "--identity", identity, "--output", output], {
    cwd: "/",
    env: { HOME: "/nonexistent" },
  });
  expect(done.code, done.stderr).toBe(0);
  expect(countInvoices(output)).toBe(200);
});

it("the agent signs nothing during a log alarm, shows the evidence, and continues when a person clears it", async () => {
  await json(["backup", "--source", "papers"]);
  const honest = service.log;
  service.log = honest.fork(0);
  service.log.appendHash(new Uint8Array(32));
  await cli(["doctor"]);
  expect(await json(["backup", "--source", "papers"], 2)).toMatchObject({ error: "log_alarm" });
  expect(await json(["restore-test", "--source", "papers"], 2)).toMatchObject({ error: "log_alarm" });
  const status = await cli(["status"]);
  expect(status.code).toBe(1);
  expect(status.stdout).toContain("ALARM");
  const shown = await cli(["alarm"]);
  expect(shown.code).toBe(1);
  expect(shown.stdout).toContain(honest.checkpoint(1));
  expect(shown.stdout).toContain(service.log.checkpoint(1));
  expect(await json(["alarm", "clear"], 2)).toMatchObject({ error: "usage" });
  service.log = honest;
  await json(["alarm", "clear", "--because", "the operator restored the log"]);
  expect((await cli(["alarm"])).code).toBe(0);
  await json(["backup", "--source", "papers"]);
});

it("doctor finds problems in an installation", async () => {
  const healthy = await json<{ branch: string; findings: { title: string; result: string }[] }>(["doctor"]);
  expect(healthy.branch).toBe("ATTESTORE_HOME");
  expect(healthy.findings.filter(({ result }) => result === "bad")).toEqual([]);
  expect(healthy.findings.map(({ title }) => title)).toEqual([
    "root",
    "release",
    "config.yaml",
    "keys",
    "signing key",
    "signer",
    "disk",
    "sandboxes",
    "recovery kit",
    "service",
    "certificate",
    "pinned CA",
    "clock",
    "log",
    "agent",
    "isolation",
    "sqlite",
    "files",
    "source invoices",
    "source papers",
    "records",
    "spool",
  ]);
  chmodSync(root.layout.token, 0o644);
  const loose = await cli(["doctor"]);
  expect(loose.code).toBe(1);
  expect(loose.stdout).toContain(`chmod go= ${root.layout.token}`);
  chmodSync(root.layout.token, 0o600);
  await service.stop();
  expect((await cli(["doctor"])).stdout).toContain("can't be reached");
  writeFileSync(root.layout.config, "sevrice: {}\n");
  const broken = await cli(["doctor"]);
  expect(broken.stdout).toContain('config.yaml:1:1: sevrice is not a known field; did you mean "service"?');
});

it("while another run works in the root, a command waits, or is refused at once with --no-wait", async () => {
  const holder = startCli(["backup", "--source", "invoices"], { env: { ATTESTORE_HOME: root.layout.root } });
  // The service answers once it is told to: the run is under way for as long as the others take.
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  const reached = new Promise<void>((resolve) => {
    service.interfere = async ({ route }) => {
      if (route !== "POST /v1/backups") return undefined;
      resolve();
      await held;
      return undefined;
    };
  });
  await reached;
  expect(await json(["backup", "--source", "invoices", "--no-wait"], 2)).toMatchObject({ error: "locked" });
  const waits = startCli(["backup", "--source", "invoices"], { env: { ATTESTORE_HOME: root.layout.root } });
  await waits.said("Waiting for `attestore backup`");
  letGo();
  expect((await holder.finished).code).toBe(0);
  expect((await waits.finished).code).toBe(0);
  expect(service.receipts).toHaveLength(2);
});

it("the agent stops with 130 when it is interrupted, and takes the backup up later", async () => {
  const reached = new Promise<void>((resolve) => {
    service.interfere = ({ route }) => {
      if (!route.startsWith("PUT ")) return undefined;
      resolve();
      return { status: 503, body: "", headers: { "retry-after": "5" } };
    };
  });
  const running = startCli(["backup", "--source", "invoices"], { env: { ATTESTORE_HOME: root.layout.root } });
  await reached;
  running.process.kill("SIGINT");
  expect((await running.finished).code).toBe(130);
  service.interfere = () => undefined;
  expect(await json(["sync"])).toMatchObject({ backups_delivered: 1, accepted: 1 });
});

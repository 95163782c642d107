import { randomUUID } from "node:crypto";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  declareSource,
  heartbeatBody,
  writeEncryptedDump,
  type BackupRecord,
} from "../e2e/harness/backups.ts";
import { seal } from "../e2e/harness/dsse.ts";
import { exchange } from "../e2e/harness/https.ts";
import { attach, createOrganisation, type WireAgent } from "../e2e/harness/organisation.ts";
import { postgresClient } from "../../packages/orchestrator/test/postgres-client.ts";
import { run, start, type Environment, type Finished, type Running } from "../e2e/harness/programs.ts";
import { startServer, type Server } from "../e2e/harness/server.ts";
import { restoreTestStatement } from "../e2e/harness/statements.ts";
import { until } from "../e2e/harness/wait.ts";
import { ReceiptStream, type Acknowledged } from "./receipt-stream.ts";
import { storedReceipts } from "./stored-receipts.ts";

/** The service's own backup: made under load, restored elsewhere, and read without us. */
const client = postgresClient();
const INTERVAL_S = 1;
let root: string;
let backups: string;
let recipient: string;
let server: Server;
let submitters: { agent: WireAgent; backup: BackupRecord }[];
let settings: Environment;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "service-backup-"));
  chmodSync(root, 0o711);
  backups = join(root, "backups");
  mkdirSync(backups);
  execFileSync("age-keygen", ["-o", join(root, "recovery.key")], { stdio: "ignore" });
  recipient = execFileSync("age-keygen", ["-y", join(root, "recovery.key")], { encoding: "utf8" }).trim();
  settings = {
    ATTESTORE_RATE_DEFAULT: "1000000/60",
    ATTESTORE_HEARTBEAT_INTERVAL_S: String(INTERVAL_S),
    ATTESTORE_POSTGRES_CLIENT: client,
  };
  server = await startServer({
    ...settings,
    ATTESTORE_BACKUP_DIRECTORY: backups,
    ATTESTORE_BACKUP_RECIPIENTS: recipient,
  });
  submitters = [];
  for (let n = 0; n < 2; n++) {
    const agent = await attach(await createOrganisation(server));
    submitters.push({ agent, backup: await writeEncryptedDump(agent, await declareSource(agent)) });
  }
});
afterAll(async () => {
  await server.remove();
  rmSync(root, { recursive: true, force: true });
});

/** Commands and the service on another data directory, at the address of the first. */
function elsewhere(name: string): { data: string; env: Environment; serve: () => Promise<Running> } {
  const data = join(root, name);
  const env = {
    ...settings,
    ATTESTORE_DATA: data,
    ATTESTORE_LISTEN: `127.0.0.1:${server.port}`,
    ATTESTORE_PUBLIC_URL: server.url,
  };
  const serve = async (): Promise<Running> => {
    const running = start("attestore-server", ["serve"], env);
    await until("the restored service listens", () => running.talk().includes("listening"), 60);
    return running;
  };
  return { data, env, serve };
}

async function end({ child, finished, talk }: Running): Promise<void> {
  child.kill("SIGTERM");
  expect((await finished).code, talk()).toBe(0);
}

const restore = (file: string, env: Environment, ...more: string[]): Promise<Finished> =>
  run(
    "attestore-server",
    ["service", "restore", file, "--identity", join(root, "recovery.key"), ...more],
    env,
  );

const newestBackup = (): string => {
  const [name] = readdirSync(backups)
    .filter((each) => /^attestore-service-\d{8}T\d{6}Z\.age$/.test(each))
    .toSorted()
    .toReversed();
  if (name === undefined) throw new Error("there is no backup");
  return join(backups, name);
};

/** In the database of the service that runs on the directory. */
async function requireThere(data: string, receipts: readonly Acknowledged[]): Promise<void> {
  const stored = await storedReceipts(data);
  for (const { receipt, envelopeSha256 } of receipts)
    expect(stored.get(receipt.receipt_id)).toEqual({
      log_index: receipt.log_index,
      envelope: envelopeSha256,
    });
}

let acknowledged: Acknowledged[];
/** Some of them after the backup. */
let later: Acknowledged[];
let file: string;

test("the service backs itself up by its schedule, and by a command while it is under load", async () => {
  await until("the first scheduled backup is there", () => existsSync(backups) && hasBackup(), 90);
  const first = newestBackup();
  const metrics = (await exchange(server, { method: "GET", path: "/metrics" })).body.toString();
  const shown = /^attestore_service_backup_newest_timestamp_seconds (\d+)/m.exec(metrics)?.[1];
  expect(Number(shown)).toBeGreaterThan(Date.now() / 1000 - 600);
  expect(metrics).toContain("attestore_service_backup_interval_seconds 86400");

  await using stream = new ReceiptStream(submitters, 2);
  await stream.advance(20);
  acknowledged = [...stream.acknowledged];
  const done = await server.cli("service", "backup", "--json");
  expect(done.code, done.stderr).toBe(0);
  file = (JSON.parse(done.stdout) as { path: string }).path;
  expect(file).not.toBe(first);
  expect(file).toBe(newestBackup());
  expect(readdirSync(backups).filter((name) => name.startsWith("."))).toEqual([]);
  await stream.advance(5 * submitters.length * 2);
  await stream.stop();
  later = stream.acknowledged.slice(acknowledged.length);
});

const hasBackup = (): boolean => readdirSync(backups).some((name) => name.startsWith("attestore-service-"));

test("a backup of the service opens with age, tar, sha256sum and pg_restore, as docs/operate.md describes", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/operate.md"), "utf8");
  const block = /<!-- runs: backup-without-us -->\n```sh\n([^]*?)```/.exec(page)?.[1] ?? "exit 9";
  const work = join(root, "without-us");
  mkdirSync(work);
  copyFileSync(join(root, "recovery.key"), join(work, "recovery.key"));
  copyFileSync(file, join(work, "attestore-service.age"));
  const { status, stdout, stderr } = spawnSync("bash", ["-euo", "pipefail", "-c", block], {
    cwd: work,
    encoding: "utf8",
    env: { PATH: `${client}:${process.env["PATH"]}` },
  });
  expect(status, stderr).toBe(0);
  expect(stdout).toMatch(/TABLE DATA public log_leaves /);
  expect(readFileSync(join(work, "keys", "log-signing.pem"), "utf8")).toBe(
    readFileSync(join(server.data, "keys", "log-signing.pem"), "utf8"),
  );
});

test("a service restored elsewhere has every receipt acknowledged before its backup, and its log continues", async () => {
  // With something acknowledged after the backup, the log is read-only: that is the next test.
  const fresh = await server.cli("service", "backup", "--json");
  expect(fresh.code, fresh.stderr).toBe(0);
  const { path, entries } = JSON.parse(fresh.stdout) as { path: string; entries: number };
  await server.kill();
  const other = elsewhere("restored");
  mkdirSync(other.data, { mode: 0o711 });
  execFileSync("cp", ["-a", join(server.data, "objects"), other.data]);
  const heads = join(server.data, "signed-heads");
  const restored = await restore(path, other.env, "--signed-heads", heads, "--json");
  expect(restored.code, restored.stderr).toBe(0);
  expect(JSON.parse(restored.stdout)).toMatchObject({ entries, logs_set_back: [], findings: 0 });

  const running = await other.serve();
  const [{ agent, backup }] = submitters as [(typeof submitters)[0]];
  await requireThere(other.data, acknowledged);
  // For three heartbeats it listens to what agents know, and the stream repeats what it refuses.
  await using stream = new ReceiptStream([{ agent, backup }], 1);
  await stream.advance(3);
  await stream.stop();
  expect(stream.disturbed).toBeGreaterThan(0);
  const checked = await run("attestore-server", ["fsck", "--json"], other.env);
  expect(JSON.parse(checked.stdout)).toMatchObject({ ok: true, findings: [] });
  await end(running);
});

test("a service restored from a backup older than its signed heads makes those logs read-only before it contradicts itself", async () => {
  const other = elsewhere("older");
  const restored = await restore(file, other.env, "--json");
  expect(restored.code, restored.stderr).toBe(0);
  expect((await run("attestore-server", ["doctor", "--json"], other.env)).stdout).toContain(
    "2 logs were restored from a backup and take nothing yet",
  );
  // Nobody here knows better: no signed-heads, no objects.
  expect(JSON.parse(restored.stdout)).toMatchObject({ logs_set_back: [], findings: 0 });
  const running = await other.serve();
  // This is the backup that was made under load.
  expect(acknowledged.length).toBeGreaterThan(0);
  await requireThere(other.data, acknowledged);
  const [{ agent, backup }] = submitters as [(typeof submitters)[0]];
  const { checkpoint } = newestOf(agent);
  const told = await agent.call("POST", "/v1/heartbeat", heartbeatBody({ log_head: checkpoint }));
  expect(told.status, told.body.toString()).toBeLessThan(500);
  await delay((3 * INTERVAL_S + 1) * 1000);
  const refused = await exchange(server, {
    method: "POST",
    path: "/v1/receipts",
    token: agent.token,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(seal(agent.signer, restoreTestStatement(agent, backup))),
    idempotencyKey: randomUUID(),
  });
  expect([refused.status, refused.json<{ details: unknown }>().details]).toEqual([
    503,
    { reason: "log_set_back" },
  ]);
  const { stdout } = await run("attestore-server", ["doctor", "--json"], other.env);
  expect(stdout).toContain("it lacks signed heads of 1 log, which are now read-only");
  await end(running);
});

function newestOf(agent: WireAgent): { checkpoint: string } {
  const own = later.filter((one) => one.agent === agent);
  const newest = own.at(-1);
  if (newest === undefined) throw new Error("nothing was acknowledged later");
  return { checkpoint: newest.receipt.checkpoint };
}

test("a restore of the service needs an empty directory, the right key and a whole file, and leaves nothing if it fails", async () => {
  const other = elsewhere("refused");
  mkdirSync(other.data);
  writeFileSync(join(other.data, "something"), "");
  expect(await restore(file, other.env)).toMatchObject({ code: 2, stderr: /is not empty/ });
  rmSync(join(other.data, "something"));

  execFileSync("age-keygen", ["-o", join(root, "wrong.key")], { stdio: "ignore" });
  const wrong = ["service", "restore", file, "--identity", join(root, "wrong.key")];
  expect((await run("attestore-server", wrong, other.env)).stderr).toContain(
    "was not encrypted to this identity",
  );
  expect(readdirSync(other.data)).toEqual([]);

  const bytes = readFileSync(file);
  for (const [name, damaged] of [
    ["cut", bytes.subarray(0, bytes.length - 100)],
    [
      "changed",
      Buffer.concat([bytes.subarray(0, 5000), Buffer.from([bytes[5000]! ^ 1]), bytes.subarray(5001)]),
    ],
  ] as const) {
    const path = join(root, `${name}.age`);
    writeFileSync(path, damaged);
    expect((await restore(path, other.env)).stderr, name).toContain("is damaged");
    expect(readdirSync(other.data), name).toEqual([]);
  }
});

test("a restore of the service keeps files that a service created in its directory meanwhile", async () => {
  const other = elsewhere("raced");
  const pipe = join(root, "raced.age");
  execFileSync("mkfifo", [pipe]);
  const restoring = restore(pipe, other.env);
  await until("the restore has begun", () => existsSync(join(other.data, "restore-unfinished")), 30);
  mkdirSync(join(other.data, "keys"));
  writeFileSync(join(other.data, "keys", "log-signing.pem"), "another service's");
  execFileSync("sh", ["-c", 'cat "$1" > "$2"', "sh", file, pipe]);
  expect(await restoring).toMatchObject({ code: 2, stderr: /is not empty/ });
  expect(readdirSync(join(other.data, "keys"))).toEqual(["log-signing.pem"]);
  expect(existsSync(join(other.data, "restore-unfinished"))).toBe(false);
});

test("no service starts in a directory where a restore was cut off", async () => {
  const other = elsewhere("cut-off");
  mkdirSync(join(other.data, "restore-unfinished"), { recursive: true });
  const started = await run("attestore-server", ["serve"], other.env);
  expect(started.code).toBe(2);
  expect(started.stderr).toContain("was not restored");
  expect(dirname(other.data)).toBe(root);
});

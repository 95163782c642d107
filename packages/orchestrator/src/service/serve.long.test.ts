import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { Agent } from "node:https";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SmallDisk } from "../../../host/test/small-disk.ts";
import { readMigrations } from "../platform/database/migrate.ts";
import { DiskStore } from "../platform/objects/disk-store.ts";
import { processesWorkingIn } from "../platform/postgres/process-state.ts";
import { attachBody } from "../../test/new-agent.ts";
import { answerTo, TestServer } from "../../test/test-server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await TestServer.create();
});
afterEach(() => server.remove());

const statusOf = async (path: string): Promise<number> => (await server.send("GET", path)).status;
const errorOf = (body: Buffer): unknown => (JSON.parse(body.toString()) as { error: unknown }).error;

async function postmasterPid(): Promise<number> {
  return Number((await readFile(join(server.cluster, "postmaster.pid"), "utf8")).split("\n")[0]);
}

async function uploadUrl(bytes: Buffer): Promise<string> {
  const hmacKey = Buffer.from(await readFile(join(server.data, "keys", "object-urls.key"), "utf8"), "base64");
  const store = new DiskStore({ directory: join(server.data, "objects"), publicUrl: "https://x", hmacKey });
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const { url } = await store.presignPut({
    key: "org_1/src_1/upl_1.age",
    sizeBytes: bytes.length,
    sha256,
    expiresInSeconds: 60,
  });
  return url.replace("https://x", "");
}

test("a first start creates everything, a stop ends everything, a second start continues", async () => {
  await server.remove();
  server = await TestServer.create({ first: true });
  const first = await server.serve();
  await first.said("browsers warn about the certificate");
  expect([await statusOf("/healthz"), await statusOf("/readyz")]).toEqual([200, 200]);
  expect((await readdir(server.data)).sort()).toEqual([
    "address.json",
    "keys",
    "objects",
    "owner.json",
    "owner.lock",
    "postgres",
    "signed-heads",
    "tls",
  ]);
  const ca = await readFile(join(server.data, "tls", "ca.pem"), "utf8");
  for (const directory of ["keys", "objects"])
    expect((await stat(join(server.data, directory))).mode & 0o077, directory).toBe(0);
  first.process.kill("SIGTERM");
  const end = await first.finished;
  expect(end).toMatchObject({ exitCode: 0, stderr: "" });
  expect(await processesWorkingIn(server.cluster)).toEqual([]);
  const second = await server.serve();
  expect(await statusOf("/readyz")).toBe(200);
  expect(await readFile(join(server.data, "tls", "ca.pem"), "utf8")).toBe(ca);
  second.process.kill("SIGTERM");
  await second.finished;
});

test("the database away: 503 with Retry-After, then all is well again without a restart", async () => {
  const running = await server.serve();
  const control = join(server.cluster, "global", "pg_control");
  await rename(control, `${control}.away`); // Without it, no attempt to start again succeeds.
  const before = await postmasterPid();
  process.kill(before, "SIGKILL");
  await running.said("could not be started again");
  const doctor = await server.run(["doctor", "--json"]).finished;
  const { findings } = JSON.parse(doctor.stdout) as { findings: { check: string; message: string }[] };
  const found = new Map(findings.map(({ check, message }) => [check, message]));
  expect(found.get("service")).toMatch(/is not ready: The database (is not running|cannot be reached)/);
  expect(found.get("database")).toMatch(/its PostgreSQL does not answer.*Often the disk is full/);
  const answer = await server.send("POST", "/api/bootstrap/start", attachBody());
  expect([answer.status, errorOf(answer.body)]).toEqual([503, "unavailable"]);
  expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
  while ((await statusOf("/readyz")) !== 503) await delay(50);
  expect(await statusOf("/healthz")).toBe(200);
  await rename(`${control}.away`, control);
  while ((await statusOf("/readyz")) !== 200) await delay(50);
  expect(await postmasterPid()).not.toBe(before);
  expect((await server.send("POST", "/api/bootstrap/start", attachBody())).status).toBe(201);
  running.process.kill("SIGTERM");
  expect((await running.finished).exitCode).toBe(0);
});

test("a start on a disk without room says how much there is, and works when there is more", async () => {
  const directory = join(server.data, "..", "disk");
  await mkdir(directory);
  using disk = new SmallDisk(directory, { bytes: 200 << 20, mode: "0711", isLazy: true });
  disk.fill(1 << 20);
  const small = new TestServer(directory, server.port);
  const refused = async (): Promise<string> => {
    const { exitCode, stderr } = await small.run(["serve"]).finished;
    expect(exitCode, stderr).toBe(2);
    return stderr;
  };
  const startAndStop = async (): Promise<void> => {
    const running = await small.serve();
    running.process.kill("SIGTERM");
    expect((await running.finished).exitCode).toBe(0);
  };
  try {
    expect(await refused()).toMatch(/initdb failed.* has \S+ \S+ free: make room there\.\n$/s);
    disk.empty();
    await startAndStop();
    disk.fill();
    expect(await refused()).toMatch(/No space left on device\. .* has 0 B free: make room there\.\n$/);
    disk.empty();
    await startAndStop();
  } finally {
    await small.end();
  }
});

test("a stop lets an upload finish and ends a poll that is held", async () => {
  const running = await server.serve();
  const bytes = randomBytes(400_000);
  const upload = await server.begin("PUT", await uploadUrl(bytes), {
    "content-length": String(bytes.length),
  });
  upload.write(bytes.subarray(0, 200_000));
  while ((await readdir(join(server.data, "objects", ".incoming"))).length === 0) await delay(10);
  const begun = await server.send("POST", "/api/bootstrap/start", attachBody());
  const { poll_token } = JSON.parse(begun.body.toString()) as { poll_token: string };
  const poll = await server.begin("GET", `/api/bootstrap/${poll_token}`);
  poll.end();
  await once(poll, "finish");
  const held = answerTo(poll);
  expect((await server.send("GET", "/healthz")).headers.connection).toBe("keep-alive");
  running.process.kill("SIGTERM");
  await running.said("stopping");
  expect((await held).status).toBe(202);
  // It says so a moment before it takes no more.
  const isRefused = async (): Promise<boolean> => {
    const late = (await server.begin("GET", "/healthz", {}, new Agent())).end();
    const answered = once(late, "response").then(() => false);
    return Promise.race([once(late, "error").then(() => true), answered.catch(() => true)]);
  };
  await expect.poll(isRefused).toBe(true);
  expect(running.process.exitCode).toBeNull();
  upload.end(bytes.subarray(200_000));
  expect((await answerTo(upload)).status).toBe(200);
  expect((await running.finished).exitCode).toBe(0);
  const stored = await readFile(join(server.data, "objects", "org_1", "src_1", "upl_1.age"));
  expect(stored.equals(bytes)).toBe(true);
});

test("requests that do not end are cut off after the time for it, and leave no part", async () => {
  const running = await server.serve({ ATTESTORE_SHUTDOWN_S: "1" });
  const bytes = randomBytes(1000);
  const upload = await server.begin("PUT", await uploadUrl(bytes), { "content-length": "1000" });
  const cut = once(upload, "error");
  upload.write(bytes.subarray(0, 500));
  while ((await readdir(join(server.data, "objects", ".incoming"))).length === 0) await delay(10);
  running.process.kill("SIGTERM");
  await cut;
  const { exitCode, stdout } = await running.finished;
  expect(exitCode).toBe(0);
  expect(stdout).toContain("cut off");
  expect(await readdir(join(server.data, "objects", ".incoming"))).toEqual([]);
});

test("Ctrl-C under npm arrives twice and is one; a second one a while later ends at once", async () => {
  const running = await server.serve({ ATTESTORE_SHUTDOWN_S: "60" });
  const bytes = randomBytes(1000);
  const upload = await server.begin("PUT", await uploadUrl(bytes), { "content-length": "1000" });
  upload.on("error", () => undefined);
  upload.write(bytes.subarray(0, 500));
  while ((await readdir(join(server.data, "objects", ".incoming"))).length === 0) await delay(10);
  running.process.kill("SIGINT");
  running.process.kill("SIGINT");
  await running.said("stopping");
  await delay(1200);
  expect(running.process.exitCode).toBeNull();
  running.process.kill("SIGINT");
  expect((await running.finished).exitCode).toBe(1);
  while ((await processesWorkingIn(server.cluster)).length > 0) await delay(20);
});

test("kill -9 in the middle of an upload: no process, no part of it, a clean start", async () => {
  const running = await server.serve();
  const bytes = randomBytes(1000);
  const upload = await server.begin("PUT", await uploadUrl(bytes), { "content-length": "1000" });
  upload.on("error", () => undefined);
  upload.write(bytes.subarray(0, 500));
  while ((await readdir(join(server.data, "objects", ".incoming"))).length === 0) await delay(10);
  running.process.kill("SIGKILL");
  await running.finished;
  const again = await server.serve();
  expect(await readdir(join(server.data, "objects", ".incoming"))).toEqual([]);
  again.process.kill("SIGTERM");
  await again.finished;
});

test("mistakes of the person who starts it: exit code 2, one message, no stack", async () => {
  const other = createServer().listen(server.port, "127.0.0.1");
  await once(other, "listening");
  const taken = await server.run(["serve"]).finished;
  other.close();
  const attempts = [
    { end: taken, says: "ATTESTORE_LISTEN" },
    {
      end: await server.run(["serve"], { ATTESTORE_LISTN: "x" }).finished,
      says: "Did you mean ATTESTORE_LISTEN?",
    },
    {
      end: await server.run(["serve"], { DATABASE_URL: "postgresql://u:secretword@127.0.0.1:1/x" }).finished,
      says: "database",
    },
    {
      end: await server.run(["serve"], { ATTESTORE_TLS_CERT: "/none", ATTESTORE_TLS_KEY: "/none" }).finished,
      says: "/none",
    },
    { end: await server.run(["sevre"]).finished, says: "unknown command" },
    { end: await server.run(["serve", "--data", "x"]).finished, says: "unknown option" },
    { end: await server.run(["database", "--data", "x"]).finished, says: "unknown option" },
    { end: await server.run(["database", "upgrade"]).finished, says: "--from" },
  ];
  for (const { end, says } of attempts) {
    expect(end.exitCode, says).toBe(2);
    expect(end.stderr).toContain(says);
    expect(end.stderr).not.toMatch(/\n\s+at |secretword/);
  }
  expect(await processesWorkingIn(server.cluster)).toEqual([]);
});

test("a database without the keys it was written with is not served", async () => {
  const running = await server.serve();
  running.process.kill("SIGTERM");
  await running.finished;
  const key = join(server.data, "keys", "log-signing.pem");
  await rename(key, `${key}.away`);
  const missing = await server.run(["serve"]).finished;
  expect([missing.exitCode, missing.stderr]).toEqual([
    2,
    expect.stringContaining("log-signing.pem is missing"),
  ]);
  await expect(stat(key)).rejects.toMatchObject({ code: "ENOENT" });
  await rename(join(server.data, "keys", "log-cosigning.pem"), key);
  await rename(`${key}.away`, join(server.data, "keys", "log-cosigning.pem"));
  const exchanged = await server.run(["serve"]).finished;
  expect([exchanged.exitCode, exchanged.stderr]).toEqual([2, expect.stringContaining("is not the key")]);
});

test.each([
  ["signed-heads", "directory", /must be a file/],
  ["tls/ca.key", "empty", /ca\.key is damaged or empty\. Restore the directory tls\/ from a backup/],
  ["tls/ca.pem", "empty", /ca\.pem is damaged or empty\. Restore the directory tls\/ from a backup/],
] as const)("a start with %s as a %s file says what to do, and shows no stack", async (file, how, says) => {
  const running = await server.serve();
  running.process.kill("SIGTERM");
  await running.finished;
  const path = join(server.data, file);
  await rm(path);
  await (how === "empty" ? writeFile(path, "", { mode: 0o600 }) : mkdir(path));
  const { exitCode, stderr } = await server.run(["serve"]).finished;
  expect([exitCode, stderr]).toEqual([2, expect.stringMatching(says)]);
  expect(stderr).not.toMatch(/\n\s+at /);
});

test("commands work beside the service, and without it", async () => {
  const before = await server.run(["org", "add", "First", "--json"]).finished;
  expect(before).toMatchObject({ exitCode: 0, stderr: "" });
  const running = await server.serve();
  const listed = await server.run(["org", "list", "--json"]).finished;
  expect(JSON.parse(listed.stdout)).toMatchObject([{ name: "First" }]);
  const migrated = await server.run(["migrate", "--json"]).finished;
  expect(JSON.parse(migrated.stdout)).toMatchObject({ applied: [] });
  const clean = await server.run(["fsck", "--json"]).finished;
  expect([clean.exitCode, JSON.parse(clean.stdout)]).toMatchObject([
    0,
    { ok: true, findings: [], counts: { logs: 1 } },
  ]);
  expect((await server.run(["fsck"]).finished).stdout).toMatch(/^clean: 1 log, 0 leaves, /);
  running.process.kill("SIGTERM");
  await running.finished;
});

test("migrate names each migration that it applied, and the version that it reached", async () => {
  await server.remove();
  server = await TestServer.create({ first: true });
  const known = await readMigrations();
  const version = known.at(-1)?.version;
  const first = await server.run(["migrate", "--json"]).finished;
  expect(JSON.parse(first.stdout)).toEqual({ version, applied: known.map(({ name }) => name) });
  const again = await server.run(["migrate", "--json"]).finished;
  expect(JSON.parse(again.stdout)).toEqual({ version, applied: [] });
});

test("fsck finds a head that the leaves do not lead to, and says so by its exit code", async () => {
  await server.run(["org", "add", "First"]).finished;
  const running = await server.serve();
  const client = new pg.Client({
    host: join(server.data, "postgres", "run"),
    user: "attestore",
    database: "postgres",
  });
  await client.connect();
  await client.query("update log_heads set root_hash = sha256('another')");
  await client.end();
  const damaged = await server.run(["fsck"]).finished;
  expect([damaged.exitCode, damaged.stderr]).toEqual([1, expect.stringContaining("head")]);
  running.process.kill("SIGTERM");
  await running.finished;
});

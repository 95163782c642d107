import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSmtpServer, type TestSmtpServer } from "../../test/smtp.ts";
import { startS3TestServer } from "../../test/s3-test-server.ts";
import { TestServer } from "../../test/test-server.ts";
import { postgresClient } from "../../test/postgres-client.ts";
import { backupFileName } from "../features/service-backup/backup-files.ts";
import { expiryFinding } from "./doctor/examine-certificate.ts";
import { spaceFinding } from "./doctor/examine-disk.ts";
import type { Finding } from "@attestore/host/finding";
import { connectStandby } from "../../test/postgres/standby.ts";

let server: TestServer;
let smtp: TestSmtpServer;
beforeAll(async () => {
  server = await TestServer.create({ first: true });
  smtp = await startSmtpServer();
});
afterAll(async () => {
  await smtp.close();
  await server.remove();
});

interface Answer {
  exitCode: number | null;
  ok: boolean;
  findings: Finding[];
}

const withMail = (): NodeJS.ProcessEnv => ({ ATTESTORE_SMTP_URL: `smtp://127.0.0.1:${smtp.port}` });

async function doctor(environment: NodeJS.ProcessEnv = withMail()): Promise<Answer> {
  const { exitCode, stdout, stderr } = await server.run(["doctor", "--json"], environment).finished;
  expect(stderr).toBe("");
  return { exitCode, ...(JSON.parse(stdout) as { ok: boolean; findings: Finding[] }) };
}

const levels = ({ findings }: Answer): Record<string, string> =>
  Object.fromEntries(findings.map(({ check, level }) => [check, level]));
const of = ({ findings }: Answer, check: string): Finding[] => findings.filter((one) => one.check === check);

test("before the first start doctor creates nothing and finds nothing wrong", async () => {
  const answer = await doctor();
  expect([answer.exitCode, answer.ok]).toEqual([0, true]);
  expect(levels(answer)).toEqual({ settings: "ok", data: "skipped", smtp: "ok" });
  await expect(readdir(server.data)).rejects.toThrow("ENOENT");
});

test("every mistake in the settings is named, and the exit code is 2", async () => {
  const answer = await doctor({
    ATTESTORE_LISTEN: "nowhere",
    ATTESTORE_S3_BUKET: "x",
    ATTESTORE_METRICS_TOKEN: "hunter2",
  });
  expect([answer.exitCode, answer.ok]).toEqual([2, false]);
  expect(answer.findings.map(({ message }) => message)).toHaveLength(3);
  expect(JSON.stringify(answer)).not.toContain("hunter2");
});

describe("of a service", () => {
  let running: Awaited<ReturnType<TestServer["serve"]>>;
  beforeAll(async () => {
    running = await server.serve();
    await server.run(["org", "add", "Example"]).finished;
  });

  test("that is healthy nothing is wrong, in the output for people too", async () => {
    const answer = await doctor();
    expect([answer.exitCode, answer.ok], JSON.stringify(answer, null, 2)).toEqual([0, true]);
    expect(levels(answer)).toEqual({
      settings: "ok",
      service: "ok",
      disk: "ok",
      database: "ok",
      migrations: "ok",
      role: "ok",
      clock: "ok",
      keys: "ok",
      passkeys: "ok",
      log: "ok",
      backup: "warning",
      installation: "ok",
      heads: "ok",
      quarantine: "ok",
      objects: "ok",
      tls: "ok",
      smtp: "ok",
    });
    expect(await readdir(join(server.data, "objects", ".incoming"))).toEqual([]);
    const { stdout, exitCode } = await server.run(["doctor"]).finished;
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^ok {7}database {4}PostgreSQL 18/m);
    expect(stdout).toMatch(/^WARNING {2}smtp[^\n]*\n {21}→ Set ATTESTORE_SMTP_URL/m);
    expect(stdout).toMatch(/\d+ ok, 2 warnings, 0 failed, 0 skipped\n$/);
  });

  test("for backups of the service it says that there are none, how old the newest is, and what is missing to make one", async () => {
    const directory = join(server.data, "..", "backups");
    const settings = {
      ...withMail(),
      ATTESTORE_BACKUP_DIRECTORY: directory,
      ATTESTORE_BACKUP_RECIPIENTS: "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
      ATTESTORE_POSTGRES_CLIENT: postgresClient(),
    };
    const backup = async (more = {}): Promise<unknown> =>
      of(await doctor({ ...settings, ...more }), "backup");
    // As where its disk is not mounted.
    expect(await backup()).toMatchObject([
      { level: "failed", message: expect.stringContaining(`There is no directory ${directory}`) },
    ]);
    const refused = await server.run(["service", "backup"], settings).finished;
    expect([refused.exitCode, refused.stderr]).toEqual([
      2,
      expect.stringContaining(`There is no directory ${directory}`),
    ]);
    await mkdir(directory);
    expect(await backup()).toMatchObject([
      { level: "warning", message: expect.stringContaining("no backup") },
    ]);
    const old = new Date(Date.now() - 4 * 86_400_000);
    await writeFile(join(directory, backupFileName(old)), "");
    expect(await backup()).toMatchObject([
      { level: "failed", message: expect.stringContaining("96 hours old") },
    ]);
    await writeFile(join(directory, backupFileName(new Date())), "");
    expect(await backup()).toMatchObject([{ level: "ok" }]);
    expect(await backup({ ATTESTORE_POSTGRES_CLIENT: "/usr/lib/postgresql/15" })).toMatchObject([
      { level: "failed", message: expect.stringContaining("those here are of 15") },
    ]);
  });

  test("under an IP address nobody can have a passkey, and an operator cannot sign in: doctor and the start say so", async () => {
    const bare = { ...withMail(), ATTESTORE_PUBLIC_URL: `https://127.0.0.1:${server.port}` };
    expect(of(await doctor(bare), "passkeys")).toMatchObject([
      { level: "warning", next: expect.stringContaining("ATTESTORE_PUBLIC_URL") },
    ]);
    await server.run(["operator", "add", "ada@example.org"]).finished;
    const answer = await doctor(bare);
    expect([answer.exitCode, answer.ok]).toEqual([1, false]);
    expect(of(answer, "passkeys")).toMatchObject([
      { level: "failed", message: expect.stringContaining("none of them can use the dashboard") },
    ]);
    expect(levels(await doctor())).toMatchObject({ passkeys: "ok" });
    running.process.kill("SIGTERM");
    await running.finished;
    running = await server.serve(bare);
    running.process.kill("SIGTERM");
    const { stdout, stderr } = await running.finished;
    expect(stdout + stderr).toContain("no operator can use the dashboard");
    running = await server.serve();
  });

  test("each fault is found by itself", async () => {
    const connection = {
      host: join(server.data, "postgres", "run"),
      user: "attestore",
      database: "postgres",
    };
    const client = new pg.Client(connection);
    await client.connect();
    await client.query("update logs set root_hash = decode(repeat('00', 32), 'hex')");
    await client.query("update log_heads set recorded_at = now() + interval '1 hour' where tree_size = 0");
    await client.end();
    const key = join(server.data, "keys", "sealing.key");
    await chmod(key, 0o644);
    const objects = join(server.data, "objects", ".incoming");
    await rename(objects, `${objects}.away`);
    await writeFile(objects, "");
    const answer = await doctor({ ATTESTORE_SMTP_URL: "smtp://127.0.0.1:1" });
    expect([answer.exitCode, answer.ok]).toEqual([1, false]);
    expect(levels(answer)).toMatchObject({
      database: "ok",
      clock: "failed",
      keys: "failed",
      log: "failed",
      objects: "failed",
      smtp: "failed",
    });
    expect(of(answer, "log")[0]?.message).toMatch(/^org_.*the right edge does not produce the root/);
    expect(of(answer, "smtp")[0]?.message).toContain("ECONNREFUSED");
    for (const { level, next } of answer.findings) if (level === "failed") expect(next).toBeTruthy();
    await chmod(key, 0o600);
    await rm(objects);
    await rename(`${objects}.away`, objects);
  });

  test("of an S3 bucket, an object is written, read and removed, or doctor says why not", async () => {
    const s3 = await startS3TestServer({ verifiesChecksums: true });
    const { endpoint, region, bucket, accessKeyId, secretAccessKey } = s3.settings;
    const settings = {
      ...withMail(),
      ATTESTORE_S3_ENDPOINT: endpoint,
      ATTESTORE_S3_REGION: region,
      ATTESTORE_S3_BUCKET: bucket,
      ATTESTORE_S3_ACCESS_KEY_ID: accessKeyId,
      ATTESTORE_S3_SECRET_ACCESS_KEY: secretAccessKey,
    };
    expect(of(await doctor(settings), "objects")).toMatchObject([{ level: "ok" }]);
    expect(s3.objects.size).toBe(0);
    const wrong = await doctor({ ...settings, ATTESTORE_S3_SECRET_ACCESS_KEY: "another" });
    expect(of(wrong, "objects")).toMatchObject([
      { level: "failed", message: expect.stringContaining("403") },
    ]);
    await s3.close();
    expect(of(await doctor(settings), "objects")).toMatchObject([
      { level: "failed", message: expect.stringContaining("ECONNREFUSED") },
    ]);
  });

  test("whose database another version has migrated is reported, with what to run", async () => {
    const connection = {
      host: join(server.data, "postgres", "run"),
      user: "attestore",
      database: "postgres",
    };
    const client = new pg.Client(connection);
    await client.connect();
    await client.query(
      "insert into schema_migrations (version, name, sha256) values (9999, 'later', repeat('0', 64))",
    );
    try {
      const answer = await doctor();
      expect(answer.exitCode).toBe(1);
      expect(of(answer, "migrations")[0]).toMatchObject({
        level: "failed",
        message: "The database was migrated by another version of this program.",
        next: "Run the version that migrated it, or a newer one.",
      });
    } finally {
      await client.query("delete from schema_migrations where version = 9999");
      await client.end();
    }
  });

  test("whose database another server copies without any commit waiting for it gets a warning", async () => {
    const connection = {
      host: join(server.data, "postgres", "run"),
      user: "attestore",
      database: "postgres",
    };
    const standby = await connectStandby(connection, server.cluster);
    try {
      expect(of(await doctor(), "standbys")).toMatchObject([
        { level: "warning", message: expect.stringContaining("may lack acknowledged receipts") },
      ]);
    } finally {
      await standby.end();
    }
    expect(of(await doctor(), "standbys")).toEqual([]);
  });

  test("that is stopped still has its database examined", async () => {
    running.process.kill("SIGTERM");
    await running.finished;
    const stopped = await doctor();
    expect(levels(stopped)).toMatchObject({ service: "skipped", database: "ok", migrations: "ok" });
    expect(await readFile(join(server.data, "postgres", "data", "PG_VERSION"), "utf8")).toBe("18\n");
  });

  test("at whose address something else answers is reported as not a service", async () => {
    const pem = await readFile(join(server.data, "tls", "server.pem"));
    const other = createServer({ key: pem, cert: pem, minVersion: "TLSv1.3" }, (_request, answer) => {
      answer.writeHead(101, { connection: "upgrade", upgrade: "h2c" }).end();
    });
    await once(other.listen(0, "127.0.0.1"), "listening");
    try {
      const { port } = other.address() as AddressInfo;
      const answer = await doctor({ ...withMail(), ATTESTORE_LISTEN: `127.0.0.1:${port}` });
      expect(answer.exitCode).toBe(1);
      expect(of(answer, "service")).toMatchObject([
        { level: "failed", message: `127.0.0.1:${port}: it answered in another protocol.` },
      ]);
    } finally {
      other.closeAllConnections();
      other.close();
    }
  });
});

test("disk space and certificates: a warning near the end, and a failure past it", () => {
  const mib = 1024 ** 2;
  expect([100, 1000, 10_000].map((free) => spaceFinding("/data", free * mib).level)).toEqual([
    "failed",
    "warning",
    "ok",
  ]);
  const now = new Date("2026-11-21T00:00:00Z");
  const level = (days: number, own: boolean): string =>
    expiryFinding({ validToDate: new Date(now.getTime() + days * 86_400_000) }, "f", own, now).level;
  expect([-1, 13, 15].map((days) => level(days, true))).toEqual(["failed", "warning", "ok"]);
  expect([-1, 79, 81].map((days) => level(days, false))).toEqual(["failed", "warning", "ok"]);
});

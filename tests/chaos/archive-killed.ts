import { createHash, randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseBundle, publicKeyFromBytes, verifyReceipt } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ReceiptEntry } from "../../packages/orchestrator/src/features/receipts/receipt-entry.ts";
import {
  connectDatabase,
  type DatabaseAccess,
} from "../../packages/orchestrator/src/platform/database/database.ts";
import { silentLogger } from "../../packages/orchestrator/src/platform/logging/logger.ts";
import { insertAgent, insertBackup, type TestAgent } from "../../packages/orchestrator/test/log/log-world.ts";
import { addOldReceipts } from "../../packages/orchestrator/test/log/old-receipts.ts";
import { api } from "../e2e/harness/https.ts";
import { start } from "../e2e/harness/programs.ts";
import { startS3Server, type S3Server } from "../e2e/harness/s3-server.ts";
import { startServer, type Server } from "../e2e/harness/server.ts";

const DAY_MS = 86_400_000;
const FILES = 8;
const COUNT = FILES * 256 + 40;

/** Who moves receipts to the archive is killed, and who reads them meanwhile notices nothing. */
export function testArchive(store: "disk" | "S3"): void {
  let s3: S3Server | null = null;
  let server: Server;
  let access: DatabaseAccess;
  let token: string;
  let agent: TestAgent;
  let entries: ReceiptEntry[];

  beforeAll(async () => {
    if (store === "S3") s3 = await startS3Server({ tls: true });
    server = await startServer({ ...s3?.environment, ATTESTORE_RATE_DEFAULT: "1000000/60" });
    const org = await server.cliJson<{ id: string }>("org", "add", "Old Receipts");
    const pid = readFileSync(join(server.data, "postgres", "data", "postmaster.pid"), "utf8").split("\n");
    access = connectDatabase({
      connection: { host: pid[4] ?? "", port: Number(pid[3]), user: "attestore", database: "postgres" },
      log: silentLogger,
      connections: 2,
    });
    const { database: db, pool } = access;
    agent = await insertAgent(db, org.id);
    entries = await addOldReceipts(pool, agent, {
      backups: [await insertBackup(db, agent)],
      count: COUNT,
      from: new Date(Date.now() - 200 * DAY_MS),
      every_ms: 1000,
    });
    token = `atss_${"a".repeat(43)}`;
    await pool.query(
      "insert into users (id, org_id, email, role) values ('user_01k0000000000000000000000a', $1, 'o@example.org', 'owner')",
      [org.id],
    );
    await pool.query(
      "insert into sessions (token_sha256, user_id, expires_at, signed_in_with) values ($1, 'user_01k0000000000000000000000a', now() + interval '1 day', 'passkey')",
      [createHash("sha256").update(token).digest()],
    );
  });
  afterAll(async () => {
    await access.close();
    await server.remove();
    await s3?.remove();
  });

  const archived = async (): Promise<number> =>
    (await access.pool.query<{ n: number }>("select count(*)::int as n from receipts where envelope is null"))
      .rows[0]?.n ?? 0;

  /** Of the answer to somebody who asks for it. */
  async function requireSame(entry: ReceiptEntry): Promise<void> {
    const answer = await api(server, { method: "GET", path: `/api/receipts/${entry.id}`, token });
    expect(answer.status, answer.body.toString()).toBe(200);
    const { envelope } = answer.json<{ envelope: object }>();
    expect(envelope).toEqual(JSON.parse(entry.envelope.toString()));
  }

  const anyEntry = (): ReceiptEntry => {
    const entry = entries[randomInt(COUNT)];
    if (entry === undefined) throw new Error("there are no entries");
    return entry;
  };

  const command = (...args: string[]) =>
    start("attestore-server", args, {
      ...s3?.environment,
      ATTESTORE_DATA: server.data,
      ATTESTORE_PUBLIC_URL: server.url,
    });

  if (store === "S3")
    test("a command that was not told of the bucket moves nothing to the disk", async () => {
      const { code, stderr } = await start("attestore-server", ["log", "archive", "--older-than", "90"], {
        ATTESTORE_DATA: server.data,
        ATTESTORE_PUBLIC_URL: server.url,
      }).finished;
      expect(stderr).toContain("The object store does not belong to this database");
      expect(code).toBe(1);
      expect(await archived()).toBe(0);
    });

  test("killed again and again, it loses no envelope, and readers get each of them all the while", async () => {
    let kills = 0;
    while ((await archived()) < FILES * 256) {
      const { child, finished } = command("log", "archive", "--older-than", "90");
      const before = await archived();
      // It has begun to move: from here on a kill comes at any step.
      let over = false;
      void finished.then(() => (over = true));
      while (!over && (await archived()) === before) await requireSame(anyEntry());
      await delay(randomInt(60));
      if (child.kill("SIGKILL")) kills += 1;
      await finished;
      for (let n = 0; n < 20; n += 1) await requireSame(anyEntry());
    }
    expect(kills).toBeGreaterThan(0);
    const fsck = await command("fsck").finished;
    expect(fsck.stdout).toMatch(/^clean: /);
    for (const entry of entries.filter((_, n) => n % 37 === 0)) await requireSame(entry);
    const stored = await access.pool.query<{ id: string }>("select id from receipts order by log_index");
    expect(stored.rows.map(({ id }) => id)).toEqual(entries.map(({ id }) => id));
  });

  test("an archived receipt's bundle verifies offline", async () => {
    const { id } = entries[7] ?? anyEntry();
    const answer = await api(server, { method: "GET", path: `/api/receipts/${id}/bundle`, token });
    const bundle = parseBundle(answer.body);
    const publicKey = publicKeyFromBytes(agent.publicKey);
    expect(
      (await verifyReceipt({ bundle, publicKey })).checks.filter(({ result }) => result === "failed"),
    ).toEqual([]);
  });

  test("taken back, killed once in between, all of it is in the database again", async () => {
    const begun = command("log", "unarchive", "--yes");
    const before = await archived();
    let over = false;
    void begun.finished.then(() => (over = true));
    while (!over && (await archived()) === before) await requireSame(anyEntry());
    begun.child.kill("SIGKILL");
    await begun.finished;
    await requireSame(anyEntry());
    const { code, stdout, stderr } = await command("log", "unarchive", "--yes").finished;
    expect(code, stdout + stderr).toBe(0);
    expect(await archived()).toBe(0);
    const { rows } = await access.pool.query<{ envelope: Buffer }>(
      "select envelope from receipts order by log_index",
    );
    expect(rows.every(({ envelope }, n) => envelope.equals(entries[n]?.envelope ?? Buffer.alloc(0)))).toBe(
      true,
    );
    expect((await command("fsck", "--without-archive").finished).stdout).toMatch(/^clean: /);
  });
}

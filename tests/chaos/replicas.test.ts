/**
 * Two replicas on one PostgreSQL under load, one killed again and again. Their database's role is
 * no superuser.
 */
import { randomInt, randomUUID } from "node:crypto";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { declareSource, writeEncryptedDump, type BackupRecord } from "../e2e/harness/backups.ts";
import { startDatabaseServer, type DatabaseServer } from "../e2e/harness/database.ts";
import { exchange, ownAddress, type Answer } from "../e2e/harness/https.ts";
import { ed25519 } from "../e2e/harness/keys.ts";
import {
  attach,
  attachBody,
  createAuthKey,
  createOrganisation,
  type WireAgent,
} from "../e2e/harness/organisation.ts";
import { startServer, type Server } from "../e2e/harness/server.ts";
import { CommandFlow } from "./command-flow.ts";
import { ReceiptStream } from "./receipt-stream.ts";
import { SeenHeads } from "./seen-heads.ts";
import { signUp } from "../e2e/harness/session.ts";

const ROUNDS = process.env["TEST_ALL"] === undefined ? 2 : 4;
const MOST_MS = 300;
/** An hour in the contract. */
const STARTS = 30;

let postgres: DatabaseServer;
let replicas: [Server, Server];
beforeAll(async () => {
  postgres = await startDatabaseServer({ durable: true });
  postgres.sql("postgres", "create role service login createrole; create database attestore owner service");
  const settings = {
    DATABASE_URL: `postgresql://service@${encodeURIComponent(postgres.home)}/attestore`,
    ATTESTORE_RATE_DEFAULT: "1000000/60",
    // No hour ends meanwhile.
    ATTESTORE_RATE_BOOTSTRAP_START: `${STARTS}/9999999`,
    ATTESTORE_HEARTBEAT_INTERVAL_S: "1",
  };
  const first = await startServer(settings);
  // Replicas of one service have its keys.
  const second = await startServer(settings, (data) =>
    cpSync(join(first.data, "keys"), join(data, "keys"), { recursive: true, preserveTimestamps: true }),
  );
  replicas = [first, second];
});
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.remove()));
  await postgres.stop();
});

test(`with a replica killed ${ROUNDS} times, nothing acknowledged is lost, no command runs twice, and no log forks`, async () => {
  const [first, second] = replicas;
  const submitters: { agent: WireAgent; backup: BackupRecord }[] = [];
  for (let n = 0; n < 2; n++) {
    const agent = await attach(await createOrganisation(first));
    submitters.push({ agent, backup: await writeEncryptedDump(agent, await declareSource(agent)) });
  }
  const person = await signUp(replicas);
  const authKey = await createAuthKey(first, person.orgId);
  const worker = await attach({ server: first, id: person.orgId, authKey });
  const sourceId = await declareSource(worker);

  await using stream = new ReceiptStream(submitters, 4, { replicas });
  const trigger = `/api/orgs/${person.orgId}/sources/${sourceId}/trigger`;
  await using commands = new CommandFlow(replicas, worker, person.token, trigger);
  for (let round = 0; round < ROUNDS; round++) {
    const killed = round % 2 === 0 ? second : first;
    await stream.advance(20);
    await delay(randomInt(MOST_MS));
    await killed.kill();
    // The other one goes on alone, and while this one starts.
    await stream.advance(10);
    await Promise.all([killed.start(), stream.advance(10)]);
  }
  await stream.stop();
  await commands.stop();
  expect(stream.disturbed, "the blows were felt").toBeGreaterThan(ROUNDS);

  await expectReceipts(stream);
  for (const { agent } of submitters) {
    const seen = new SeenHeads(agent);
    for (const one of stream.acknowledged.filter(({ agent: { id } }) => id === agent.id)) seen.take(one);
    await seen.requireExtended(seen.sizes.slice(-20));
  }
  const fsck = await first.cliJson<{ ok: boolean; findings: unknown[] }>("fsck");
  expect(fsck).toMatchObject({ ok: true, findings: [] });

  // Each call that was answered made one command, however often it had to be repeated; each was
  // handed out once for each attempt.
  expect(commands.asked.length).toBeGreaterThan(10);
  expect(new Set(commands.asked).size).toBe(commands.asked.length);
  expect(new Set(commands.delivered).size).toBe(commands.delivered.length);
  const rows = await query<{ id: string; status: string }>("select id, status from commands order by id");
  expect(rows.map(({ id }) => id)).toEqual(commands.asked.toSorted());
  expect([...commands.ids].toSorted()).toEqual(commands.asked.toSorted());
  expect(rows.filter(({ status }) => status !== "acked")).toEqual([]);
});

async function expectReceipts({ acknowledged }: ReceiptStream): Promise<void> {
  const stored = await query<{ id: string; log_index: string; envelope: string }>(
    "select id, log_index, encode(sha256(envelope), 'hex') as envelope from receipts order by id",
  );
  const told = acknowledged.map(({ receipt, envelopeSha256 }) => ({
    id: receipt.receipt_id,
    log_index: String(receipt.log_index),
    envelope: envelopeSha256,
  }));
  // Each submission was repeated until it was acknowledged, so there is nothing else either.
  expect(stored).toEqual(told.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
  const places = acknowledged.map(({ agent, receipt }) => `${agent.orgId} ${receipt.log_index}`);
  expect(new Set(places).size).toBe(places.length);
}

test("two replicas share one exact limit, and a replica that dies takes nothing from it", async () => {
  const [first, second] = replicas;
  const from = ownAddress();
  const start = (server: Server): Promise<Answer | null> =>
    exchange(server, {
      method: "POST",
      path: "/api/bootstrap/start",
      json: attachBody(ed25519()),
      idempotencyKey: randomUUID(),
      from,
    }).catch(() => null);
  const started = (answers: readonly (Answer | null)[]): number =>
    answers.filter((answer) => answer?.status === 201).length;

  const before = await Promise.all(Array.from({ length: 12 }, (_, n) => start(n % 2 === 0 ? first : second)));
  expect(started(before)).toBe(12);
  const during = Array.from({ length: 10 }, () => start(second));
  await second.kill();
  const cutOff = await Promise.all(during);
  await second.start();
  const after = await Promise.all(Array.from({ length: 40 }, (_, n) => start(n % 2 === 0 ? first : second)));
  const lost = cutOff.filter((answer) => answer === null).length;
  const all = started(before) + started(cutOff) + started(after);
  expect(all).toBeLessThanOrEqual(STARTS);
  // A call that was cut off may have been counted.
  expect(all).toBeGreaterThanOrEqual(STARTS - lost);
  expect(after.map((answer) => answer?.status).filter((status) => status !== 201)).toContain(429);
  for (const replica of replicas) expect((await start(replica))?.status).toBe(429);
});

async function query<Row extends object>(text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: postgres.url("attestore") });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}
